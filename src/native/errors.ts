import { errorWithCode } from "../base/errors.ts";

/** A native runtime gave no answer, or an answer in the wrong form. Exact execution answers instead. */
export class NativeRuntimeError extends errorWithCode("NATIVE_RUNTIME", { retryable: true }) {}

/** No native runtime in this process can open the model. */
export class NativeModelError extends errorWithCode("NATIVE_MODEL") {}

/** A calibration cannot be used: damaged data, or another program or runtime. */
export class CalibrationError extends errorWithCode("CALIBRATION") {}
