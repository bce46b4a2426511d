import { expect } from "chai";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { fetchModel, fetchText } from "../../../src/runs/programs/fetchModel.ts";
import { isPublic } from "../../../src/base/openUrl.ts";
import { rejection } from "../../../testkit/rejection.ts";

const BODY = Buffer.from("the model's bytes");
const sha256 = createHash("sha256").update(BODY).digest("hex");
const { signal } = new AbortController();

describe("fetchModel", () => {
  let folder: string;
  let server: Server;
  let answer: RequestListener;
  let asked: string[];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    asked = [];
    server = createServer((request, response) => {
      asked.push(request.url!);
      answer(request, response);
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true });
  });

  const base = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const target = (): string => join(folder, "model.onnx");
  const fetch = (uri = `${base()}/m`, more: Partial<Parameters<typeof fetchModel>[2]> = {}, bytes = BODY.length) =>
    fetchModel({ uri, sha256, bytes }, target(), { allowFile: false, signal, ...more });
  const refusal = async (uri?: string, more?: Partial<Parameters<typeof fetchModel>[2]>, bytes?: number) => {
    const { code, message } = (await rejection(fetch(uri, more, bytes))) as Error & { code?: unknown };
    return `${String(code)} ${message}`;
  };

  it("file_ofItsLengthAndHash_isWritten_alsoAfterRedirects", async () => {
    answer = ({ url }, response) =>
      url === "/m" ? response.end(BODY) : response.writeHead(302, { location: "/m" }).end();
    await fetch(`${base()}/from`);
    expect(readFileSync(target())).to.deep.equal(BODY);
    expect(asked).to.deep.equal(["/from", "/m"]);
  });

  it("endlessBody_isCutOff_andNoMoreIsWrittenThanTheCatalogueSays", async () => {
    answer = (_, response) => {
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(2 ** 16)));
        if (!response.destroyed) response.once("drain", write);
      };
      write();
    };
    expect(await refusal()).to.match(/^FETCH_REFUSED .* more than the 17 bytes/);
    expect(statSync(target(), { throwIfNoEntry: false })?.size ?? 0).to.be.at.most(BODY.length);
  });

  it("announcedLengthOfAnotherNumber_isRefusedBeforeTheBody", async () => {
    answer = (_, response) => void response.writeHead(200, { "content-length": 10 ** 12 }).flushHeaders();
    expect(await refusal()).to.match(/^FETCH_REFUSED .* has 1000000000000 bytes, not the 17/);
  });

  it("slowOrSilentServer_isGivenUp_andMayBeTriedAgain", async () => {
    answer = (_, response) => void response.writeHead(200).write(BODY.subarray(0, 3));
    expect(await refusal(undefined, { seconds: 0.2 })).to.match(/^FETCH_FAILED /);
    answer = () => undefined;
    rmSync(target());
    expect(await refusal(undefined, { seconds: 0.2 })).to.match(/^FETCH_FAILED /);
  });

  it("bodyThatEndsEarly_andErrorsOfTheServer_mayPass", async () => {
    answer = (_, response) => response.end(BODY.subarray(1));
    expect(await refusal()).to.match(/^FETCH_REFUSED|^FETCH_FAILED/);
    rmSync(target(), { force: true });
    answer = (_, response) => {
      response.write(BODY.subarray(1));
      response.end();
    };
    expect(await refusal()).to.match(/^FETCH_FAILED .* ended after 16 of 17 bytes/);
    answer = (_, response) => response.writeHead(503).end();
    expect(await refusal()).to.match(/^FETCH_FAILED .* answers 503/);
  });

  it("otherBytes_areRefused", async () => {
    answer = (_, response) => response.end(Buffer.alloc(BODY.length));
    expect(await refusal()).to.match(/^FETCH_REFUSED .* has the SHA-256/);
  });

  it("compressedAnswer_isRefused_andNeverDecompressed", async () => {
    answer = (_, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(2 ** 24)));
    expect(await refusal()).to.match(/^FETCH_REFUSED .* encoding gzip/);
  });

  it("redirects_toFiles_toOtherPlaces_orWithoutAnEnd_areRefused", async () => {
    const secret = join(folder, "secret");
    writeFileSync(secret, BODY);
    for (const location of [
      pathToFileURL(secret).href,
      "http://example.com/m",
      "https://example.com/m",
      "http://10.0.0.1/m",
      "http://169.254.169.254/latest",
      "ftp://127.0.0.1/m",
      "data:,x",
      "http://[",
    ]) {
      answer = (_, response) => response.writeHead(302, { location }).end();
      expect(await refusal(), location).to.match(/^FETCH_REFUSED /);
    }
    answer = (_, response) => response.writeHead(307, { location: "/m" }).end();
    asked = [];
    expect(await refusal()).to.match(/^FETCH_REFUSED .* more than 3 redirects/);
    expect(asked).to.have.length(4);
  });

  it("urlsThatAreNotHttps_orNamePrivateAddresses_areRefusedWithoutAConnection", async () => {
    for (const uri of [
      "http://example.com/m",
      "https://10.0.0.1/m",
      "https://192.168.1.1/m",
      "https://[fd00::1]/m",
      "https://[::ffff:10.0.0.1]/m",
      "https://0x0a000001/m",
      "https://169.254.169.254/m",
      "ipfs://bafy/m",
      "m",
    ])
      expect(await refusal(uri), uri).to.match(/^FETCH_REFUSED /);
  });

  it("fileOfThisMachine_isTakenOnlyWhereAllowed_andOnlyIfItIsOne_ofItsLength", async () => {
    const path = join(folder, "own.onnx");
    writeFileSync(path, BODY);
    const uri = pathToFileURL(path).href;
    expect(await refusal(uri)).to.match(/^FETCH_REFUSED .* only a catalogue on this machine/);
    await fetch(uri, { allowFile: true });
    expect(readFileSync(target())).to.deep.equal(BODY);
    rmSync(target());
    expect(await refusal("file:///dev/zero", { allowFile: true })).to.match(/^FETCH_REFUSED .* no file of the 17/);
    expect(await refusal(uri, { allowFile: true }, 16)).to.match(/^FETCH_REFUSED .* no file of the 16/);
  });

  it("text_hasALimit", async () => {
    answer = (_, response) => response.end(BODY);
    expect(await fetchText(`${base()}/c`, BODY.length, signal)).to.equal(String(BODY));
    expect(await rejection(fetchText(`${base()}/c`, 5, signal))).to.have.property("code", "FETCH_REFUSED");
  });

  it("isPublic_refusesWhatIsNotTheInternets", () => {
    for (const address of ["8.8.8.8", "172.15.0.1", "2606:4700::1111"])
      expect(isPublic(address), address).to.equal(true);
    for (const address of [
      "127.0.0.1",
      "10.1.2.3",
      "172.16.0.1",
      "100.64.0.1",
      "224.0.0.1",
      "255.255.255.255",
      "0.0.0.0",
    ])
      expect(isPublic(address), address).to.equal(false);
    for (const address of [
      "::1",
      "::",
      "fe80::1",
      "fd00::1",
      "::ffff:8.8.8.8",
      "64:ff9b::a00:1",
      "2002:a00:1::",
      "2001:db8::1",
    ])
      expect(isPublic(address), address).to.equal(false);
  });
});
