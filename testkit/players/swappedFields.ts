type Path = readonly (string | number)[];

/** Every leaf of a JSON value, as the path to the leaf. */
function leaves(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const parts = Array.isArray(value) ? value.map((part, k) => [k, part] as const) : Object.entries(value);
  return parts.flatMap(([name, part]) => leaves(part, [...path, name]));
}

/** Another value of the same form. The last characters of base64 may hold unused bits: an earlier one changes. */
function swapped(value: unknown): unknown {
  if (typeof value === "number") return value === 0 ? 1 : value - 1;
  if (value === null) return "0".repeat(64);
  if (value === "chat") return "completion";
  if (value === "length" || value === "stop") return value === "stop" ? "length" : "stop";
  const text = value as string;
  const at = Math.max(0, text.length - 3);
  return text.slice(0, at) + (text[at] === "1" ? "2" : "1") + text.slice(at + 1);
}

/** Copies of a receipt, each with another value in one field, and the path to the field. */
export function swappedFields<T>(receipt: T): { path: Path; changed: T }[] {
  return leaves(receipt).map((path) => {
    const changed = structuredClone(receipt);
    let parent = changed as Record<string | number, unknown>;
    for (const part of path.slice(0, -1)) parent = parent[part] as typeof parent;
    const last = path.at(-1)!;
    parent[last] = swapped(parent[last]);
    return { path, changed };
  });
}
