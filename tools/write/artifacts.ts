/** Writes ignition/artifacts.br, so that `npm start` compiles nothing. test/deploy/packedArtifacts.test.ts compares. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { readOptions } from "../options.ts";
import { PACKED, packArtifacts, sourcesHash } from "../setup/contracts.mjs";
import { builtArtifacts } from "./builtArtifacts.ts";

readOptions({});
// A build after an edit compiles the edited files only. A build of all files can give these contracts other code.
execFileSync("hardhat", ["build", "--quiet", "--no-tests", "--force"], { stdio: "inherit" });
writeFileSync(PACKED, packArtifacts(sourcesHash(), builtArtifacts()));
