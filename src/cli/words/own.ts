/** Returns an entry from a table. A name from outside may equal a name on the prototype. */
export const own = <T>(table: Record<string, T>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
