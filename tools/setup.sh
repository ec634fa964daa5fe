#!/bin/sh
# Installs what a build (or the tests) needs on Debian and Ubuntu, as root or through sudo; elsewhere says what is missing.
# usage: setup.sh build|test
set -e
packages="gcc cmake ninja-build pkg-config libjansson-dev libyaml-dev libpcre2-dev libutf8proc-dev"
[ "$1" = test ] && packages="$packages libcmocka-dev libsimde-dev flatbuffers-compiler python3 python3-numpy file binutils"

missing=
if command -v dpkg-query >/dev/null 2>&1; then
    for package in $packages; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
    done
    # Any compiler, CMake and Python on the PATH will do, wherever they come from.
    for pair in gcc:cc cmake:cmake ninja-build:ninja pkg-config:pkg-config python3:python3; do
        command -v "${pair#*:}" >/dev/null 2>&1 && missing=$(echo " $missing " | sed "s/ ${pair%%:*} / /")
    done
    missing=$(echo $missing)
    [ -z "$missing" ] && exit 0
    if [ "$(id -u)" = 0 ]; then sudo=; elif command -v sudo >/dev/null 2>&1; then sudo=sudo; else sudo=none; fi
    if [ "$sudo" != none ]; then
        echo "installing: $missing"
        # A package list may be old; refresh it only when the install fails.
        DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq $missing >/dev/null 2>&1 && exit 0
        $sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq $missing >/dev/null && exit 0
    fi
    echo "please install: $missing" >&2
    exit 1
fi
for tool in cc cmake ninja pkg-config; do command -v $tool >/dev/null 2>&1 || missing="$missing $tool"; done
for library in jansson yaml-0.1 libpcre2-8 libutf8proc; do pkg-config --exists $library 2>/dev/null || missing="$missing $library"; done
[ "$1" = test ] && { pkg-config --exists cmocka 2>/dev/null || missing="$missing cmocka"; }
[ -z "$missing" ] && exit 0
echo "this system has no apt; please install:$missing" >&2
exit 1
