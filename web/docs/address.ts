import { routeHash } from "../route.ts";

/** What the address of a place in the documentation says after `#`. */
export const placeHash = (page: string, section = ""): string =>
  routeHash(["docs", page, ...(section === "" ? [] : [section])]);
