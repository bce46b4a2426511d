import { errorWithCode, RefuteError } from "../base/errors.ts";

/**
 * A stand-in's file that cannot be read, is not what it should be, or would be overwritten. It never shows what the
 * file holds.
 */
export class StandInFileError extends RefuteError {
  readonly code = "STAND_IN_FILE";
  constructor(path: string, what: string, options?: ErrorOptions) {
    super(`${path}: ${what}`, options);
  }
}

/** A field of a report, an endorsement or a statement that does not fit its place. */
export class ReportFieldError extends errorWithCode("REPORT_FIELD") {}

/** A device refuses to sign: the request is no report of the form that it signs, or its counter is used up. */
export class DeviceRefusalError extends errorWithCode("DEVICE_REFUSED") {}

/** Another dongle, or a command, uses the folder of a device. */
export class DeviceInUseError extends errorWithCode("DEVICE_IN_USE") {
  constructor(folder: string) {
    super(
      `${folder} is in use: a dongle, or another command, has the device; end that, or use its socket with --dongle`,
    );
  }
}

/** Nobody answers at a dongle's socket. */
export class DongleAwayError extends errorWithCode("DONGLE_AWAY", { retryable: true }) {}

/** What answers at a dongle's socket is no dongle. */
export class DongleAnswerError extends errorWithCode("DONGLE_ANSWER") {}

/** A device's next report must wait for a block. */
export class ReportTooSoonError extends errorWithCode("REPORT_TOO_SOON", { retryable: true }) {}

/** The device that answers is not the one that backs the worker: its exams would not count. */
export class ExamElsewhereError extends errorWithCode("EXAM_ELSEWHERE") {}

/** What is at an address are no exams of this deployment. */
export class WrongExamsError extends errorWithCode("WRONG_EXAMS") {}
