/** A gateway's server without models, in a separate process. `argv`: a body's maximum. Ends with the input's end. */
import { ApiKeys } from "../../src/parties/gateway/apiKeys.ts";
import type { Gateway } from "../../src/parties/gateway/gateway.ts";
import { serveGateway } from "../../src/parties/gateway/server.ts";
import { SILENT } from "../../src/base/log.ts";

const gateway = { models: [], isEager: false } as unknown as Gateway;
const options = { gateway, keys: new ApiKeys(undefined), log: SILENT, maxBodyBytes: Number(process.argv[2]) };
const { port, close } = await serveGateway(options, 0);
process.stdout.write(`${port}\n`);
process.stdin.on("data", () => process.stdout.write(`${process.resourceUsage().maxRSS}\n`));
process.stdin.once("end", () => void close());
