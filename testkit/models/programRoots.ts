import type { CatalogueModel } from "./catalogue.ts";
import { compileModel } from "./compileModel.ts";

/** The program roots that are committed, by the models' names in the catalogue. */
export const PROGRAM_ROOTS = "test/golden/programRoots.json";

/** Returns the root of a catalogue model's program, compiled for the model's own input shapes. */
export const rootOf = (one: CatalogueModel): string => compileModel(one, one.inputs()).model.programRoot;
