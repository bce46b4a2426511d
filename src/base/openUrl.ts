import { lookup as dnsLookup, type LookupAddress, type LookupOptions } from "node:dns";
import { get as getHttp, type IncomingMessage } from "node:http";
import { get as getHttps } from "node:https";
import { BlockList, isIP } from "node:net";
import { FetchError, FetchRefusedError } from "./fetchErrors.ts";

/** How many redirects are followed. */
const MAX_REDIRECTS = 3;
/** Maximum idle time before giving up a connection, milliseconds. */
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

/** Returns whether an address may belong to the public internet. */
export const isPublic = (address: string): boolean =>
  isIP(address) === 4
    ? !SPECIAL.check(address, "ipv4")
    : GLOBAL.check(address, "ipv6") && !SPECIAL.check(address, "ipv6");

const isLoopback = (address: string): boolean => address === "::1" || /^127\./.test(address);
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");
const namesLoopback = (url: URL): boolean => hostOf(url) === "localhost" || isLoopback(hostOf(url));

/** Where a URL may lead besides public addresses, over https. */
export type Reach = {
  /** Whether a URL with this machine's name may reach the machine itself, and nowhere else: over http too. */
  thisMachine: boolean;
  /** Hosts, with their ports as in URLs, that are reached wherever they are, over http too: the operator named them. */
  hosts?: ReadonlySet<string>;
  /** Headers sent to the URL itself, not to redirect targets. */
  headers?: Readonly<Record<string, string>>;
};

/** The reach of a catalogue's URLs: the operator's own catalogue may be on this machine. */
const CATALOGUE: Reach = { thisMachine: true };

/**
 * Opens a URL that others may have written: https to public addresses, and what `reach` allows. They, or a server that
 * they name, must not reach into the operator's network.
 * @returns The answer, neither compressed nor partial.
 * @throws FetchError if it may succeed later; FetchRefusedError
 */
export async function openUrl(text: string, signal: AbortSignal, reach: Reach = CATALOGUE): Promise<IncomingMessage> {
  let url = parse(text, text);
  const isLocal = reach.thisMachine && namesLoopback(url);
  for (let redirects = 0; ; redirects++) {
    const isAllowed = allowedAddresses(url, isLocal, reach);
    const response = await request(url, isAllowed, signal, redirects === 0 ? reach.headers : undefined);
    const { statusCode = 0, headers } = response;
    if (REDIRECTS.includes(statusCode) && headers.location !== undefined) {
      response.destroy();
      if (redirects === MAX_REDIRECTS) throw new FetchRefusedError(`${text} has more than ${MAX_REDIRECTS} redirects`);
      url = parse(headers.location, text, url);
      continue;
    }
    const encoding = headers["content-encoding"] ?? "identity";
    if (statusCode === 200 && encoding === "identity") return response;
    response.destroy();
    if (statusCode !== 200) throw new FetchError(`${text} answers ${statusCode}`);
    // A few compressed bytes may stand for any number.
    throw new FetchRefusedError(`${text} answers in the encoding ${encoding}, which was not asked for`);
  }
}

function parse(text: string, origin: string, base?: URL): URL {
  try {
    return new URL(text, base);
  } catch (cause) {
    throw new FetchRefusedError(`${origin} leads to what is no URL`, { cause });
  }
}

/** To which addresses a URL may lead. @throws FetchRefusedError if to none */
function allowedAddresses(url: URL, isLocal: boolean, { hosts }: Reach): (address: string) => boolean {
  const host = hostOf(url);
  const isOwn = hosts?.has(url.host) === true;
  const isAllowed = url.protocol === "https:" || (url.protocol === "http:" && (isLocal || isOwn));
  if (!isAllowed)
    throw new FetchRefusedError(
      `${url.protocol}//${host} is refused: only https, or http to this machine or to a host that is allowed`,
    );
  if (isOwn) return () => true;
  if (isLocal !== namesLoopback(url) || (isIP(host) !== 0 && !isLocal && !isPublic(host)))
    throw new FetchRefusedError(`${host} is refused: it is not a public address, or not where the URL began`);
  return isLocal ? isLoopback : isPublic;
}

function request(
  url: URL,
  isAllowed: (address: string) => boolean,
  signal: AbortSignal,
  more: Reach["headers"],
): Promise<IncomingMessage> {
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
          new FetchRefusedError(`${hostname} is refused: it leads to ${refused?.address ?? "no address"}`),
          [],
        );
      if (options.all === true) done(null, addresses);
      else done(null, addresses[0]!.address, addresses[0]!.family);
    });
  };
  const get = url.protocol === "https:" ? getHttps : getHttp;
  return new Promise((resolve, reject) => {
    const headers = { ...more, "accept-encoding": "identity" };
    const sent = get(url, { lookup, headers, signal, timeout: IDLE_MS, agent: false }, resolve);
    sent.once("timeout", () => sent.destroy(new Error(`nothing came for ${IDLE_MS / 1_000} s`)));
    sent.once("error", (cause) => reject(fetchError(url, cause)));
  });
}

/** An error of a connection, which may pass. */
export const fetchError = (url: URL | string, cause: unknown): Error =>
  cause instanceof FetchRefusedError || cause instanceof FetchError
    ? cause
    : new FetchError(`${String(url)}: ${(cause as Error).message}`, { cause });
