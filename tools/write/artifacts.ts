/** Writes ignition/artifacts.br, so that `npm start` compiles nothing. test/deploy/packedArtifacts.test.ts compares. */
import { writeFileSync } from "node:fs";
import { readOptions } from "../options.ts";
import { PACKED, packArtifacts, sourcesHash } from "../setup/contracts.mjs";
import { builtArtifacts } from "./builtArtifacts.ts";

readOptions({});
writeFileSync(PACKED, packArtifacts(sourcesHash(), builtArtifacts()));
