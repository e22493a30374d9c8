// The one translation unit that compiles Asio's body.
#include <boost/asio/impl/src.hpp>
