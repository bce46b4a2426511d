/** What readers of models use of `node:path`, where there are no files: names of files with external tensors. */
export const sep = "/";

export const dirname = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf(sep)));
export const isAbsolute = (path: string): boolean => path.startsWith(sep);
export const join = (...parts: readonly string[]): string => normalize(parts.filter((part) => part !== "").join(sep));

/** A path without empty parts, `.` and what `..` takes back. */
export function normalize(path: string): string {
  const kept: string[] = [];
  for (const part of path.split(sep)) {
    if (part === "" || part === ".") continue;
    if (part === ".." && kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else kept.push(part);
  }
  return (isAbsolute(path) ? sep : "") + (kept.join(sep) || ".");
}
