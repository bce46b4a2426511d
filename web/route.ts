/** Where in the page somebody is: what the address says after `#`. */
export type Route = {
  /** The parts of the path, of which the first names the page. */
  path: readonly string[];
  /** What the page is about: the node, the market. */
  query: Readonly<Record<string, string>>;
};

/** Reads the part of an address after `#`. What is no valid encoding is taken as it is written. */
export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const parts = path.split("/").filter((part) => part !== "");
  return { path: parts.map(decoded), query: Object.fromEntries(new URLSearchParams(query)) };
}

/** The same the other way. Entries that are empty are left out. */
export function routeHash(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const entries = Object.entries(query).filter((entry): entry is [string, string] => (entry[1] ?? "") !== "");
  const text = new URLSearchParams(entries).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
