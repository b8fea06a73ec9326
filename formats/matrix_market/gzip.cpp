// Inflating gzip, of one member or several, and deflating.
#include <seidel/formats/matrix_market/gzip.hpp>

#include <zlib.h>

#include <algorithm>

#include <seidel/formats/runtime/errors.hpp>

namespace seidel::mm {

Inflater::Inflater(std::string_view packed, const std::string& file)
    : packed_(packed), file_(file), stream_(new z_stream{}, [](z_stream* stream) {
        inflateEnd(stream);
        delete stream;
      }) {
  if (inflateInit2(stream_.get(), 16 + MAX_WBITS) != Z_OK)
    throw ResourceError(file_ + ": out of memory: zlib could not start");
}

std::int64_t Inflater::read(char* to, std::int64_t room) {
  const auto fault = [&](const std::string& found) {
    return InputError(
        file_ + ": byte " + std::to_string(at_ + 1) + ": found " + found +
        ", expected a whole gzip stream\n  the file is damaged or was cut short: fetch it again (gzip -t checks it)");
  };
  std::int64_t got = 0;
  while (got < room && !at_end_) {
    const std::size_t give = std::min<std::size_t>(packed_.size() - at_, 1 << 22);
    const std::size_t take = std::size_t(std::min<std::int64_t>(room - got, 1 << 22));
    stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed_.data() + at_));
    stream_->avail_in = uInt(give);
    stream_->next_out = reinterpret_cast<Bytef*>(to + got);
    stream_->avail_out = uInt(take);
    const int status = ::inflate(stream_.get(), Z_NO_FLUSH);
    at_ += give - stream_->avail_in;
    got += std::int64_t(take - stream_->avail_out);
    if (status == Z_STREAM_END) {
      while (at_ < packed_.size() && packed_[at_] == 0) ++at_;  // padding, as tapes and block devices leave it
      at_end_ = at_ == packed_.size();
      if (!at_end_ && !is_gzip(packed_.substr(at_))) throw fault("other bytes after the end of the stream");
      inflateReset(stream_.get());  // another member: their texts follow one another
    } else if (status == Z_MEM_ERROR) {
      throw ResourceError(file_ + ": out of memory: zlib had none left");
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      throw fault(std::string("bytes that do not inflate (") + (stream_->msg ? stream_->msg : "corrupt") + ")");
    } else if (at_ == packed_.size() && stream_->avail_out > 0) {
      throw fault("the end of the file");
    }
  }
  return got;
}

bool names_gzip(std::string_view path) {
  const auto is = [](char found, char letter) { return found == letter || found == letter - 'a' + 'A'; };
  const std::size_t n = path.size();
  return n >= 3 && path[n - 3] == '.' && is(path[n - 2], 'g') && is(path[n - 1], 'z');
}

std::string gzip(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = uInt(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = uInt(packed.size());
  const bool whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(whole ? stream.total_out : 0);
  deflateEnd(&stream);
  return packed;
}

}  // namespace seidel::mm
