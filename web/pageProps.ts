import type { Route } from "./route.ts";

export type PageProps = { route: Route };
