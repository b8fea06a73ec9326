# cmake --install: headers, library, package files.
