// What programs need of a system to run at all: the same list for the root of a namespace and for
// Landlock's rules.
#pragma once

#include <array>
#include <string_view>

namespace pawl::sandbox {

inline constexpr std::array<std::string_view, 6> kSystemDirectories = {"/usr", "/bin",   "/sbin",
                                                                       "/lib", "/lib32", "/lib64"};

// Beneath /etc: loader, certificates, names of things. No passwords, keys or host configuration.
inline constexpr std::array<std::string_view, 18> kSystemConfiguration = {
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/inputrc",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/pki",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf"};

// Only where the host's network is given.
inline constexpr std::array<std::string_view, 3> kNetworkConfiguration = {
    "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf"};

inline constexpr std::array<std::string_view, 5> kDevices = {"null", "zero", "full", "random",
                                                             "urandom"};

// Of the host's /proc, where there is no other: what says nothing about processes.
inline constexpr std::array<std::string_view, 7> kSystemStatistics = {
    "/proc/cpuinfo", "/proc/filesystems", "/proc/loadavg", "/proc/meminfo",
    "/proc/stat",    "/proc/uptime",      "/proc/version"};

}  // namespace pawl::sandbox
