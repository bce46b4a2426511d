import { fetchError, openUrl, type Reach } from "../openUrl.ts";
import { FetchError, FetchRefusedError } from "../errors.ts";
import { secondsFor } from "../slowest.ts";
import type { Reference } from "../../market/references.ts";

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
  const response = await openUrl(url, signal, reach);
  const announced = response.headers["content-length"];
  if (announced !== undefined && Number(announced) !== bytes) {
    response.destroy();
    throw new FetchRefusedError(`${uri} has ${announced} bytes, but the job's inputs ${bytes}`);
  }
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > bytes) throw new FetchRefusedError(`${uri} has more than the ${bytes} bytes of the job's inputs`);
    pieces.push(piece);
  }
  if (length < bytes) throw new FetchError(`${uri} ended after ${length} of ${bytes} bytes`);
  return Buffer.concat(pieces);
}

/** @throws FetchRefusedError if nothing is configured that serves it */
function placeOf(reference: Reference, { ipfsGateway, s3Endpoint, hosts = [] }: InputSources) {
  switch (reference.kind) {
    case "web":
      return { url: reference.url, reach: { thisMachine: false, hosts: new Set(hosts) } };
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

/** A path at a server that the operator named, which may be in the operator's own network. */
function below(base: string, path: string): { url: string; reach: Reach } {
  const { host, href } = new URL(base);
  return { url: `${href.replace(/\/+$/, "")}/${path}`, reach: { thisMachine: false, hosts: new Set([host]) } };
}
