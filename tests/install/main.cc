// Stands in for the README's C++ example where the README has none.
#include <pawl/ids.h>

#include <iostream>

int main() {
  std::cout << pawl::to_hex(pawl::sha256("pawl")) << '\n';
}
