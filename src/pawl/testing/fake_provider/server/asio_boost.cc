// Asio's body, for programs in which nobody else brings it. adapter/asio has the same file: of two
// archives with the same symbols a linker takes the first.
#include <boost/asio/impl/src.hpp>
