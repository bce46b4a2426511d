// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IClasses} from "../interfaces/IClasses.sol";

/// @notice The rarely used terms of a job. `Job.termsHash` is the hash of all terms: `keccak256(abi.encode(terms))`.
/// @param collateral Locked for a claim, in smallest units of the stake asset: at least the deployment's.
/// @param spread A worker may claim the job when `spread * hash / 2^256` blocks have passed since the block in which
/// the job opened, with a hash of the block, the job and the worker. A queue, no security: builders can grind it.
/// @param openFrom Unix time. Not zero: submissions are sealed until the job's deadline and opened from then on, for
/// `baseClock` seconds.
/// @param earlyAccept Whether the requester may accept a claim in its window: the accepted claim never becomes final.
/// @param since Latest unix time since when the worker has had stake; 0: any.
/// @param maxRefuted Maximum number of the worker's refuted claims.
/// @param maxLate Maximum number of the worker's missed deadlines.
/// @param reservedFor The only worker that may claim the job; zero: any.
/// @param classes The contract that knows the workers' classes, if the job asks for a class; else zero.
/// @param class The class that the worker must hold.
/// @param group Among the requester's jobs in one group, a worker ever takes only one, and so does a device; zero: no
/// group.
/// @param manufacturer Manufacturer of the worker's device; zero: any.
/// @param keyHash The hash over the words of a key: a proof under this key makes a claim `Proven` at once. Zero: no
/// proof.
struct Terms {
    uint128 collateral;
    uint8 spread;
    uint40 openFrom;
    bool earlyAccept;
    uint40 since;
    uint16 maxRefuted;
    uint16 maxLate;
    address reservedFor;
    IClasses classes;
    uint8 class;
    bytes32 group;
    bytes32 manufacturer;
    bytes32 keyHash;
}
