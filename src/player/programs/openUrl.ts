import { lookup as dnsLookup, type LookupAddress, type LookupOptions } from "node:dns";
import { get as getHttp, type IncomingMessage } from "node:http";
import { get as getHttps } from "node:https";
import { BlockList, isIP } from "node:net";
import { ModelFetchError, ModelRefusedError } from "../errors.ts";

/** How many redirects are followed. */
const MAX_REDIRECTS = 3;
/** A connection over which nothing comes for this long is given up. */
const IDLE_MS = 30_000;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** IPv4 addresses that are not the public internet's (IANA's registry of special-purpose addresses). */
const SPECIAL = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const)
  SPECIAL.addSubnet(network, bits, "ipv4");
/** IPv6 addresses inside 2000::/3 that stand for others, or for none. */
for (const [network, bits] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const)
  SPECIAL.addSubnet(network, bits, "ipv6");
const GLOBAL = new BlockList();
GLOBAL.addSubnet("2000::", 3, "ipv6");

/** Whether an address may be one of the public internet. */
export const isPublic = (address: string): boolean =>
  isIP(address) === 4
    ? !SPECIAL.check(address, "ipv4")
    : GLOBAL.check(address, "ipv6") && !SPECIAL.check(address, "ipv6");

const isLoopback = (address: string): boolean => address === "::1" || /^127\./.test(address);
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");
const namesLoopback = (url: URL): boolean => hostOf(url) === "localhost" || isLoopback(hostOf(url));

/**
 * Opens a URL of the catalogue: https, or http to this machine. A URL that names this machine leads nowhere else, and
 * any other URL leads to public addresses only: whoever writes the catalogue, or a server that it names, must not reach
 * into the operator's network.
 * @returns The answer, neither compressed nor partial.
 * @throws ModelFetchError if it may succeed later; ModelRefusedError
 */
export async function openUrl(text: string, signal: AbortSignal): Promise<IncomingMessage> {
  let url = parse(text, text);
  const isLocal = namesLoopback(url);
  for (let redirects = 0; ; redirects++) {
    requireAllowed(url, isLocal);
    const response = await request(url, isLocal, signal);
    const { statusCode = 0, headers } = response;
    if (REDIRECTS.includes(statusCode) && headers.location !== undefined) {
      response.destroy();
      if (redirects === MAX_REDIRECTS) throw new ModelRefusedError(`${text} has more than ${MAX_REDIRECTS} redirects`);
      url = parse(headers.location, text, url);
      continue;
    }
    const encoding = headers["content-encoding"] ?? "identity";
    if (statusCode === 200 && encoding === "identity") return response;
    response.destroy();
    if (statusCode !== 200) throw new ModelFetchError(`${text} answers ${statusCode}`);
    // A few compressed bytes may stand for any number.
    throw new ModelRefusedError(`${text} answers in the encoding ${encoding}, which was not asked for`);
  }
}

function parse(text: string, origin: string, base?: URL): URL {
  try {
    return new URL(text, base);
  } catch (cause) {
    throw new ModelRefusedError(`${origin} leads to what is no URL`, { cause });
  }
}

function requireAllowed(url: URL, isLocal: boolean): void {
  const host = hostOf(url);
  const isAllowed = url.protocol === "https:" || (url.protocol === "http:" && isLocal);
  if (!isAllowed)
    throw new ModelRefusedError(`${url.protocol}//${host} is refused: only https, or http to this machine`);
  if (isLocal !== namesLoopback(url) || (isIP(host) !== 0 && !isLocal && !isPublic(host)))
    throw new ModelRefusedError(`${host} is refused: it is not a public address, or not where the URL began`);
}

function request(url: URL, isLocal: boolean, signal: AbortSignal): Promise<IncomingMessage> {
  const isAllowed = isLocal ? isLoopback : isPublic;
  const lookup = (
    hostname: string,
    options: LookupOptions,
    done: (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void,
  ): void => {
    dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, []);
      const refused = addresses.find(({ address }) => !isAllowed(address));
      if (refused !== undefined || addresses.length === 0)
        return done(
          new ModelRefusedError(`${hostname} is refused: it leads to ${refused?.address ?? "no address"}`),
          [],
        );
      if (options.all === true) done(null, addresses);
      else done(null, addresses[0]!.address, addresses[0]!.family);
    });
  };
  const get = url.protocol === "https:" ? getHttps : getHttp;
  return new Promise((resolve, reject) => {
    const headers = { "accept-encoding": "identity" };
    const sent = get(url, { lookup, headers, signal, timeout: IDLE_MS, agent: false }, resolve);
    sent.once("timeout", () => sent.destroy(new Error(`nothing came for ${IDLE_MS / 1_000} s`)));
    sent.once("error", (cause) => reject(fetchError(url, cause)));
  });
}

/** An error of a connection, which may pass. */
export const fetchError = (url: URL | string, cause: unknown): Error =>
  cause instanceof ModelRefusedError || cause instanceof ModelFetchError
    ? cause
    : new ModelFetchError(`${String(url)}: ${(cause as Error).message}`, { cause });
