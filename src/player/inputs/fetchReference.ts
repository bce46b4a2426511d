import { fetchError, openUrl, type Reach } from "../openUrl.ts";
import { FetchError, FetchRefusedError } from "../errors.ts";
import type { Reference } from "../../market/references.ts";

/**
 * What a place must give: nothing for some seconds, then so many bytes a second. Places are named by strangers, and a
 * place that drips would keep the inputs of others waiting.
 */
const SPARE_SECONDS = 15;
const BYTES_PER_SECOND = 2 ** 20;
const leastBytes = (seconds: number): number => (seconds - SPARE_SECONDS) * BYTES_PER_SECOND;
/** The longest that a place may take for so many bytes. */
export const secondsFor = (bytes: number): number => SPARE_SECONDS + bytes / BYTES_PER_SECOND;
/** Room that is made at first: what a server announces is not believed. */
const FIRST_BYTES = 2 ** 20;

/** Where an operator has inputs fetched from that jobs name. */
export type InputSources = {
  /** The URL of a gateway to IPFS; none is fetched by its content if it is absent. */
  ipfsGateway?: string | undefined;
  /** The URL of an S3-compatible endpoint that serves objects without a signature. */
  s3Endpoint?: string | undefined;
  /** Hosts, with their ports, that are reached wherever they are, over http too. */
  hosts?: readonly string[] | undefined;
};

type FetchOptions = {
  sources: InputSources;
  signal: AbortSignal;
  /** How long it may take, if not by the slowest speed allowed. */
  seconds?: number | undefined;
};

/**
 * Fetches what a job names: so many bytes, no more are read. Their content is not checked.
 * @throws FetchError if it may succeed later; FetchRefusedError
 */
export async function fetchReference(
  reference: Reference,
  bytes: number,
  { sources, signal, seconds = secondsFor(bytes) }: FetchOptions,
): Promise<Uint8Array> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(seconds * 1_000))]);
  try {
    return await readPlace(reference, bytes, sources, limited);
  } catch (cause) {
    const isLate = limited.aborted && !signal.aborted;
    throw fetchError(reference.uri, isLate ? new Error(`not there after ${seconds} s`, { cause }) : cause);
  }
}

async function readPlace(
  reference: Reference,
  bytes: number,
  sources: InputSources,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { url, reach } = placeOf(reference, sources);
  const { uri } = reference;
  const begin = performance.now();
  const response = await openUrl(url, signal, reach);
  const announced = response.headers["content-length"];
  if (announced !== undefined && Number(announced) !== bytes) {
    response.destroy();
    throw new FetchRefusedError(`${uri} has ${announced} bytes, but the job's inputs ${bytes}`);
  }
  let file: Buffer = Buffer.allocUnsafe(Math.min(bytes, FIRST_BYTES));
  let length = 0;
  // Pieces are copied: each of them, however small, would hold far more memory than its bytes.
  for await (const piece of response as AsyncIterable<Buffer>) {
    if (length + piece.length > bytes)
      throw new FetchRefusedError(`${uri} has more than the ${bytes} bytes of the job's inputs`);
    while (file.length < length + piece.length) file = grown(file, bytes);
    piece.copy(file, length);
    length += piece.length;
    if (length < leastBytes((performance.now() - begin) / 1_000)) throw new FetchError(`${uri} is too slow`);
  }
  if (length < bytes) throw new FetchError(`${uri} ended after ${length} of ${bytes} bytes`);
  return file.subarray(0, length);
}

/** The same bytes with room for as many again, but not for more than there may be. */
function grown(file: Buffer, most: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.min(2 * file.length, most));
  file.copy(larger);
  return larger;
}

/** @throws FetchRefusedError if nothing is configured that serves it */
function placeOf(reference: Reference, { ipfsGateway, s3Endpoint, hosts = [] }: InputSources) {
  switch (reference.kind) {
    case "web":
      return { url: reference.url, reach: { thisMachine: false, hosts: new Set(hosts.map(hostName)) } };
    case "ipfs":
      if (ipfsGateway === undefined)
        throw new FetchRefusedError(`${reference.uri} needs a gateway to IPFS (--ipfs-gateway)`);
      return below(ipfsGateway, `ipfs/${reference.path}`);
    case "s3":
      if (s3Endpoint === undefined)
        throw new FetchRefusedError(`${reference.uri} needs an S3-compatible endpoint (--s3-endpoint)`);
      return below(s3Endpoint, `${reference.bucket}/${reference.key}`);
  }
}

/**
 * A path at a server that the operator named, which may be in the operator's own network.
 * @throws FetchRefusedError if it does not lie below
 */
function below(base: string, path: string): { url: string; reach: Reach } {
  const { host, href } = new URL(base);
  const prefix = `${href.replace(/\/+$/, "")}/`;
  const { href: url } = new URL(prefix + path);
  if (url !== prefix + path) throw new FetchRefusedError(`${path} does not lie below ${prefix}`);
  return { url, reach: { thisMachine: false, hosts: new Set([host]) } };
}

/** A host as URLs have it: in small letters, and without the port that is usual. */
const hostName = (host: string): string => (URL.canParse(`http://${host}`) ? new URL(`http://${host}`).host : host);
