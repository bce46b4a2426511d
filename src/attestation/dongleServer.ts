import type { Socket } from "node:net";
import { RefuteError } from "../base/errors.ts";
import type { Device } from "./device.ts";
import { lineOf, MAX_LINE_BYTES, requestSchema, type Request } from "./dongleProtocol.ts";

/** How long a connection may take. */
const PATIENCE_MS = 10_000;

/** Answers a connection's request. @param onSigned Called with the counter of each signed report. */
export function answerConnection(socket: Socket, device: Device, onSigned: (seq: bigint) => void): void {
  let given = Buffer.alloc(0);
  const patience = setTimeout(() => socket.destroy(), PATIENCE_MS);
  socket.once("close", () => clearTimeout(patience));
  // A client that disconnects does not concern the device.
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    given = Buffer.concat([given, chunk]);
    const end = given.indexOf(10);
    if (end < 0 && given.length <= MAX_LINE_BYTES) return;
    // Data after the first line is not read.
    socket.removeAllListeners("data").resume();
    const request = end < 0 || end > MAX_LINE_BYTES ? undefined : parse(given.subarray(0, end));
    void answer(request, device, onSigned).then((line) => socket.end(`${line}\n`));
  });
}

async function answer(request: Request | undefined, device: Device, onSigned: (seq: bigint) => void): Promise<string> {
  if (request === undefined)
    return lineOf.error(
      `a request is a line of at most ${MAX_LINE_BYTES} bytes: {"do": "identity"} or {"do": "sign", ...} with the ` +
        "fields of a report",
    );
  try {
    if (request.do === "identity") return lineOf.identity(await device.identity());
    const signed = await device.sign(request);
    onSigned(signed.seq);
    return lineOf.signature(signed);
  } catch (error) {
    return lineOf.error(error instanceof RefuteError ? error.message : "the device failed");
  }
}

function parse(line: Uint8Array): Request | undefined {
  try {
    return requestSchema.safeParse(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line))).data;
  } catch {
    return undefined;
  }
}
