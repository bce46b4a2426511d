import type { Tables } from "./tables.ts";

/**
 * Puts tables between their markers `<!-- table NAME -->` and `<!-- end -->`.
 * @throws Error if the page lacks a marker.
 */
export function fillTables(page: string, tables: Tables): string {
  let filled = page;
  for (const [name, table] of Object.entries(tables)) {
    const place = new RegExp(`(<!-- table ${name} -->\n)[^]*?(\n<!-- end -->)`);
    if (!place.test(filled)) throw new Error(`the page has no marker <!-- table ${name} --> with an <!-- end -->`);
    filled = filled.replace(place, (_, start: string, end: string) => `${start}\n${table}\n${end}`);
  }
  return filled;
}
