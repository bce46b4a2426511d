import { packInputs } from "../parties/requester/postJob.ts";
import type { ProgramDescription } from "../parties/requester/description.ts";
import { parseReference } from "../chain/market/references.ts";
import type { BlobChain } from "../runs/inputs/fetchBlobs.ts";
import { fetchReference, type InputSources } from "../runs/inputs/fetchReference.ts";
import { KEPT_INPUT_BYTES, MAX_INPUT_BYTES, type ReferenceOptions } from "../runs/inputs/referencedInputs.ts";
import { s3Signer } from "../runs/inputs/s3Signer.ts";
import { UsageError, WrongReferenceError } from "./errors.ts";
import { list, positive, unfit, webUrl, type Parse } from "./parse.ts";
import { inputKeys } from "./s3Keys.ts";
import { defaulted, optional, toggle, type SettingValues } from "./settings.ts";

const MIB = 2 ** 20;

/** The note for posting a job by reference. */
export const REFERRED =
  "the inputs are not put on the chain: only who can fetch them from where the job says can compute it or dispute " +
  "its result; keep them there until it is final. Inputs and outputs are public";

/** A server run by the user. IPFS gateways redirect from `localhost` to names below localhost, which lead nowhere. */
const serverUrl: Parse<string> = (given, name) => {
  const url = webUrl(given, name);
  if (new URL(url).hostname === "localhost")
    throw unfit(given, name, "a URL with an address: 127.0.0.1, not localhost");
  return url;
};

/** The servers for input places that are no URLs, or lie in the user's own network. */
export const sourceSettings = {
  ipfsGateway: optional<string>("url", "of a gateway that serves ipfs://CID", serverUrl, "none"),
  s3Endpoint: optional<string>("url", "S3-compatible, that serves s3://BUCKET/KEY", serverUrl, "none"),
  s3Buckets: optional<string[]>(
    "names",
    "comma-separated: those that are read there with the keys in REFUTE_INPUTS_AWS_..., else in AWS_...",
    list,
    "none: all are read without",
  ),
  beaconUrl: optional<string>("url", "of a node's beacon API, for inputs in blobs", serverUrl, "none"),
  inputHosts: optional<string[]>(
    "hosts",
    "comma-separated, with ports: inputs come from them over http and at private addresses too",
    list,
    "none",
  ),
};

/** The settings with which workers and watchers fetch inputs by reference. */
export const referenceSettings = {
  references: toggle("fetch the inputs of jobs from where these say that they lie: servers that strangers name"),
  ...sourceSettings,
  inputMib: defaulted("n", "MiB of inputs that are fetched for one job, at most", positive, MAX_INPUT_BYTES / MIB),
  inputsMib: defaulted("n", "MiB of such inputs kept in the folder of --cache", positive, KEPT_INPUT_BYTES / MIB),
};

type Sources = SettingValues<typeof sourceSettings>;

/** @throws UsageError if buckets are named, but no endpoint, or no keys */
function sourcesOf({ ipfsGateway, s3Endpoint, s3Buckets: buckets, beaconUrl, inputHosts }: Sources): InputSources {
  if (buckets !== undefined && s3Endpoint === undefined)
    throw new UsageError("--s3-buckets also needs --s3-endpoint, where they are");
  const signer = buckets && { buckets, headers: s3Signer(inputKeys("--s3-buckets")) };
  return { ipfsGateway, s3Endpoint, s3Signer: signer, beaconUrl, hosts: inputHosts };
}

/** How a role fetches inputs; undefined if it does not. */
export function referencesOf(values: SettingValues<typeof referenceSettings>): ReferenceOptions | undefined {
  if (!values.references) return undefined;
  const { inputMib, inputsMib } = values;
  return { sources: sourcesOf(values), maxInputBytes: inputMib * MIB, keptInputBytes: inputsMib * MIB };
}

/**
 * Fetches a job's inputs from each place that the job will name.
 * @throws WrongReferenceError if a place gives other bytes, FetchError, FetchRefusedError, JobInputError
 */
export async function checkReferences(
  uris: readonly string[],
  program: ProgramDescription,
  { inputs, items }: { inputs: readonly Uint8Array[]; items: number },
  { values, chain }: { values: Sources; chain: BlobChain },
): Promise<void> {
  const file = Buffer.from(packInputs(program, inputs, items));
  const options = { sources: sourcesOf(values), signal: new AbortController().signal, chain };
  for (const uri of uris) {
    const found = await fetchReference(parseReference(uri), file.length, options);
    if (!file.equals(found))
      throw new WrongReferenceError(
        `${uri} has other bytes than the inputs: put the file there that refute job pack writes, with the same ` +
          "flags; nothing was sent",
      );
  }
}
