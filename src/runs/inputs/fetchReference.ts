import { fetchError, openUrl, type Reach } from "../../base/openUrl.ts";
import { FetchError, FetchRefusedError } from "../../base/fetchErrors.ts";
import type { Reference } from "../../chain/market/references.ts";
import { fetchBlobs, type BlobChain } from "./fetchBlobs.ts";
import { readBody, secondsFor } from "./readBody.ts";

/** Where an operator has inputs fetched from that jobs name. */
export type InputSources = {
  /** The URL of an IPFS gateway; if absent, nothing is fetched from IPFS. */
  ipfsGateway?: string | undefined;
  /** The URL of an S3-compatible endpoint. */
  s3Endpoint?: string | undefined;
  /** Signs read requests for these buckets. Other buckets are read without a signature: strangers name them. */
  s3Signer?: { buckets: readonly string[]; headers: (url: string) => Promise<Record<string, string>> } | undefined;
  /** Hosts, with their ports, that are reached wherever they are, over http too. */
  hosts?: readonly string[] | undefined;
  /** The URL for a node's beacon API, which returns blobs; if absent, no blobs are read. */
  beaconUrl?: string | undefined;
};

type FetchOptions = {
  sources: InputSources;
  signal: AbortSignal;
  /** How long it may take, if not by the slowest speed allowed. */
  seconds?: number | undefined;
  /** The chain, which identifies the meant blobs. */
  chain: BlobChain;
  /** The time (unix seconds) until which the place must keep the inputs, if known; any time if absent. */
  until?: bigint | undefined;
};

/** Approximate bytes read per file byte. Blobs come in hexadecimal, together with the other blobs in the block. */
const SPREAD: Record<Reference["kind"], number> = { web: 1, ipfs: 1, s3: 1, blobs: 8 };

/**
 * Fetches what a job names: so many bytes, no more are read. Their content is not checked.
 * @throws FetchError if it may succeed later; FetchRefusedError
 */
export async function fetchReference(reference: Reference, bytes: number, options: FetchOptions): Promise<Uint8Array> {
  const { sources, signal, chain, until, seconds = secondsFor(SPREAD[reference.kind] * bytes) } = options;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(seconds * 1_000))]);
  try {
    if (reference.kind !== "blobs") return await readPlace(reference, bytes, sources, limited);
    const { beaconUrl } = sources;
    if (beaconUrl === undefined)
      throw new FetchRefusedError("its inputs are in blobs, which needs a beacon API (--beacon-url)");
    return await fetchBlobs(reference, bytes, { chain, beaconUrl, signal: limited, until });
  } catch (cause) {
    const isLate = limited.aborted && !signal.aborted;
    throw fetchError(reference.uri, isLate ? new Error(`not there after ${seconds} s`, { cause }) : cause);
  }
}

async function readPlace(
  reference: Exclude<Reference, { kind: "blobs" }>,
  bytes: number,
  sources: InputSources,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { url, reach } = await placeOf(reference, sources);
  const { uri } = reference;
  const response = await openUrl(url, signal, reach);
  const announced = response.headers["content-length"];
  if (announced !== undefined && Number(announced) !== bytes) {
    response.destroy();
    throw new FetchRefusedError(`${uri} has ${announced} bytes, but the job's inputs ${bytes}`);
  }
  const file = await readBody(response, bytes, uri);
  if (file.length < bytes) throw new FetchError(`${uri} ended after ${file.length} of ${bytes} bytes`);
  return file;
}

/** @throws FetchRefusedError if no configured source serves the reference */
async function placeOf(
  reference: Exclude<Reference, { kind: "blobs" }>,
  { ipfsGateway, s3Endpoint, s3Signer, hosts = [] }: InputSources,
): Promise<{ url: string; reach: Reach }> {
  switch (reference.kind) {
    case "web":
      return { url: reference.url, reach: { thisMachine: false, hosts: new Set(hosts.map(hostName)) } };
    case "ipfs":
      if (ipfsGateway === undefined)
        throw new FetchRefusedError(`${reference.uri} needs a gateway to IPFS (--ipfs-gateway)`);
      return below(ipfsGateway, `ipfs/${reference.path}`);
    case "s3": {
      if (s3Endpoint === undefined)
        throw new FetchRefusedError(`${reference.uri} needs an S3-compatible endpoint (--s3-endpoint)`);
      const { url, reach } = below(s3Endpoint, `${reference.bucket}/${reference.key}`);
      if (s3Signer?.buckets.includes(reference.bucket) !== true) return { url, reach };
      return { url, reach: { ...reach, headers: await s3Signer.headers(url) } };
    }
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

/** Returns a host in the form that URLs use: lower case, without the default port. */
const hostName = (host: string): string => (URL.canParse(`http://${host}`) ? new URL(`http://${host}`).host : host);
