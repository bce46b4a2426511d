/** Keys that a user asked this browser to keep, each for one gateway: a link to another one gets none of them. */
const nameOf = (base: string): string => `refute-key ${base}`;

/** @returns "" if none is kept, or if this browser keeps nothing */
export function keptKey(base: string): string {
  try {
    return localStorage.getItem(nameOf(base)) ?? "";
  } catch {
    return "";
  }
}

/** Keeps a key; without one, forgets what was kept. */
export function keepKey(base: string, key: string): void {
  try {
    if (key === "") localStorage.removeItem(nameOf(base));
    else localStorage.setItem(nameOf(base), key);
  } catch {
    // A browser that keeps nothing asks again.
  }
}
