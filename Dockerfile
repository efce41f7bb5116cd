# SPDX-License-Identifier: MIT
# Builds Numera's Debian package in a clean Debian 12, and installs it into
# another one, which has numera and what it calls, and not the sources:
#
#     docker build -t numera .
#     docker run --rm -v "$PWD":/work numera run model.onnx --format posit16 --input x.npy
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates
COPY . /numera
WORKDIR /numera
RUN NUMERA_CHECK_DEB=off ./dev deb

FROM debian:12
COPY --from=build /numera/build/deb/numera_*.deb /tmp/
RUN apt-get update && apt-get install -y /tmp/numera_*.deb && \
    rm -rf /tmp/numera_*.deb /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["numera"]
