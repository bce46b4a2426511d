import type { CatalogueModel } from "./catalogue.ts";
import { compileModel } from "./compileModel.ts";

/** The program roots that are committed, by the models' names in the catalogue. */
export const PROGRAM_ROOTS = "test/golden/programRoots.json";

/** The root of the program that a model of the catalogue compiles to, for the shapes of its own inputs. */
export const rootOf = (one: CatalogueModel): string => compileModel(one, one.inputs()).model.programRoot;
