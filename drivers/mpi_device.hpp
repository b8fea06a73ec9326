// How many GPUs processes of one machine share.
#pragma once

namespace seidel::drivers {

/// At least 1. Errors  BackendError.
int cuda_device_count();

}  // namespace seidel::drivers
