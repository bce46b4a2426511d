import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** How a server answers the next requests, instead of doing what they ask for. */
type Fault = { status: number; code: string; times: number };

export const KEYS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
export const REGION = "eu-test-1";

const AUTHORIZATION = new RegExp(
  "^AWS4-HMAC-SHA256 Credential=([^/]+)/(\\d{8})/([^/]+)/s3/aws4_request, " +
    "*SignedHeaders=([^,]+), *Signature=(\\w+)$",
);
const hex = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Uint8Array, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/**
 * A server with the objects of S3: PUT, GET, HEAD and DELETE in one bucket, by path. It checks each request's signature
 * (AWS Signature Version 4, "Authenticating Requests: Using the Authorization Header" of Amazon's reference).
 */
export class S3Server {
  readonly objects = new Map<string, Uint8Array>();
  readonly bucket = "tensors";
  fault: Fault | undefined;
  requests = 0;
  #server: Server | undefined;

  /** Begins to serve. @returns its URL */
  async start(): Promise<string> {
    this.#server = createServer((request, response) => {
      void this.#answer(request).then(({ status, body = new Uint8Array(0) }) => response.writeHead(status).end(body));
    });
    await new Promise<void>((resolve) => this.#server!.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve) ?? resolve(undefined));
  }

  async #answer(request: IncomingMessage): Promise<{ status: number; body?: Uint8Array }> {
    const body = new Uint8Array(await buffer(request));
    this.requests++;
    const refused = (status: number, code: string) => ({
      status,
      body: new TextEncoder().encode(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`),
    });
    if (this.fault !== undefined && this.fault.times-- > 0) return refused(this.fault.status, this.fault.code);
    const { pathname } = new URL(request.url!, "http://host");
    const wrong = signatureProblem(request, pathname, body);
    if (wrong !== undefined) return refused(403, wrong);
    const [, bucket, key = ""] = /^\/([^/]+)\/(.+)$/.exec(pathname) ?? [];
    if (bucket !== this.bucket) return refused(404, "NoSuchBucket");
    if (request.method === "PUT") {
      this.objects.set(key, body);
      return { status: 200 };
    }
    if (request.method === "DELETE") {
      this.objects.delete(key);
      return { status: 204 };
    }
    const object = this.objects.get(key);
    return object === undefined ? refused(404, "NoSuchKey") : { status: 200, body: object };
  }
}

/** Returns S3's error code for a request with a wrong signature. @returns undefined for a correct signature */
function signatureProblem({ headers, method }: IncomingMessage, path: string, body: Uint8Array): string | undefined {
  const match = AUTHORIZATION.exec(headers.authorization ?? "");
  if (match === null) return "AccessDenied";
  const [, id, day, region, signed, signature] = match as unknown as [string, string, string, string, string, string];
  if (id !== KEYS.accessKeyId || region !== REGION) return "InvalidAccessKeyId";
  const hash = headers["x-amz-content-sha256"] as string;
  if (hash !== "UNSIGNED-PAYLOAD" && hash !== hex(body)) return "XAmzContentSHA256Mismatch";
  const names = signed.split(";");
  const lines = names.map((name) => `${name}:${String(headers[name]).trim().replaceAll(/\s+/g, " ")}\n`).join("");
  const canonical = [method, path, "", lines, signed, hash].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hex(canonical)].join("\n");
  const key = [region, "s3", "aws4_request"].reduce<Buffer>(hmac, hmac(`AWS4${KEYS.secretAccessKey}`, day));
  return hmac(key, toSign).toString("hex") === signature ? undefined : "SignatureDoesNotMatch";
}
