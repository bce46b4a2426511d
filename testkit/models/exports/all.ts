import type { Exported } from "./exporter.ts";
import { LANGUAGE } from "./language.ts";
import { PROGRAMS } from "./programs.ts";
import { TOWERS } from "./towers.ts";
import { VISION } from "./vision.ts";

/** All makers of exported models. */
export const EXPORTS: readonly (() => Exported)[] = [...VISION, ...LANGUAGE, ...TOWERS, ...PROGRAMS];
