import { useLayoutEffect, useState } from "preact/hooks";
import { parseRoute, type Route } from "../route.ts";

/** Where the address says that the page is, kept up to date. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  // A change of the address between the first drawing and an effect after it would be lost.
  useLayoutEffect(() => {
    const take = (): void => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);
  return route;
}
