// Debian's libboost-json is not linked: the parser is compiled here once, from its headers.
#include <boost/json/src.hpp>
