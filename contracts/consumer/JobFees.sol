// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IClasses} from "../interfaces/IClasses.sol";
import {Terms} from "../types/Terms.sol";

/// @title The gas cost of a job for its worker, and the fee that covers the gas.
/// @notice By their usual policy, workers refuse jobs that pay less. They may ask for more.
/// @dev The same bounds as src/dispute/jobCost.ts, number by number: test/contracts/consumer/jobFees.test.ts compares
/// them. All constants are in gas, except where noted.
library JobFees {
    /// @notice The facts that determine a job's gas.
    /// @param headerBytes Length of the program's header.
    /// @param checkpoints Checkpoints of the program.
    /// @param items Items of the run.
    /// @param answers Outputs in the claim if the job asks for an answer; else 0.
    /// @param callbackGas Gas of each delivery's callback, 0 for none.
    /// @param arityBits log2 of the maximum number of nodes in a submission, set by the deployment.
    /// @param delivered Bytes of each output delivered on chain.
    struct Shape {
        uint256 headerBytes;
        uint256 checkpoints;
        uint256 items;
        uint256 answers;
        uint256 callbackGas;
        uint256 arityBits;
        uint256[] delivered;
    }

    /// @dev The share of the gas cost at the current price that a fee covers, percent. The price may rise until the
    /// delivery.
    uint256 private constant COVERED_PERCENT = 150;

    uint256 private constant TRANSACTION = 21_000;
    /// @dev Calldata: a byte other than zero, a zero byte (EIP-2028), and the floors (EIP-7623).
    uint256 private constant BYTE = 16;
    uint256 private constant ZERO_BYTE = 4;
    uint256 private constant BYTE_FLOOR = 40;
    uint256 private constant ZERO_FLOOR = 10;

    /// @dev Calldata bytes, nonzero (`FULL`) and zero, for a job, a claim, the head of the claim's nodes and a
    /// delivery.
    uint256 private constant JOB_FULL = 190;
    uint256 private constant JOB_ZERO = 358;
    uint256 private constant CLAIMED_FULL = 242;
    uint256 private constant CLAIMED_ZERO = 370;
    uint256 private constant NODES_FULL = 6;
    uint256 private constant NODES_ZERO = 58;
    uint256 private constant DELIVERY_FULL = 94;
    uint256 private constant DELIVERY_ZERO = 290;
    uint256 private constant TERMS_FULL = 170;
    uint256 private constant TERMS_ZERO = 246;
    uint256 private constant ADDRESS = 20;

    /// @dev What is executed beside calldata.
    uint256 private constant CLAIM = 45_000;
    uint256 private constant SUBMIT = 20_000;
    uint256 private constant FINALISE = 25_000;
    uint256 private constant RELEASE = 36_000;
    uint256 private constant DELIVER = 15_000;
    uint256 private constant FIRST_MARK = 22_100;
    uint256 private constant MARK = 5_000;
    uint256 private constant NODE = 600;
    uint256 private constant SIBLING = 800;
    uint256 private constant HEADER_BYTE = 2;
    uint256 private constant OUTPUT_BYTE = 10;
    uint256 private constant CALLBACK = 35_000;
    uint256 private constant SEAL = 18_000;
    uint256 private constant CLAIM_ON_TERMS = 45_000;
    uint256 private constant OPEN = 12_000;
    uint256 private constant ASK_CLASS = 80_000;
    /// @dev A hash, bytes; and what memory's square is divided by.
    uint256 private constant WORD = 32;
    uint256 private constant MEMORY_DIVISOR = 512;

    /// @notice The fee that covers the gas of a job without terms, with a margin for a rising price.
    /// @param gasPrice wei, or the smallest units of the stake asset: they are worth the same.
    function coveringFee(Shape memory shape, uint256 gasPrice) internal pure returns (uint256) {
        return _covering(jobGas(shape), gasPrice);
    }

    /// @notice The fee that covers the gas of a job with terms, with a margin for a rising price.
    /// @param terms The terms of `postWithTerms`.
    /// @param gasPrice As for a job without terms.
    function coveringFee(Shape memory shape, Terms memory terms, uint256 gasPrice) internal pure returns (uint256) {
        return _covering(jobGas(shape) + termsGas(terms), gasPrice);
    }

    /// @notice An upper bound on the gas that terms cost the worker, beside `jobGas`: the terms' bytes in two calls,
    /// the seal's own transaction, and the question for a class. The classes' contract may burn more: workers do not
    /// claim such a job.
    function termsGas(Terms memory terms) internal pure returns (uint256 total) {
        total = 2 * (BYTE * TERMS_FULL + ZERO_BYTE * TERMS_ZERO) + CLAIM_ON_TERMS;
        if (terms.openFrom != 0) {
            total += _transaction(JOB_FULL + TERMS_FULL + WORD, JOB_ZERO + TERMS_ZERO, SEAL) + OPEN;
            total += BYTE * (ADDRESS + WORD) + ZERO_BYTE * (WORD - ADDRESS);
        }
        if (terms.classes != IClasses(address(0))) total += ASK_CLASS;
    }

    /// @notice An upper bound on the gas that a job costs its worker if nobody disputes the claim.
    function jobGas(Shape memory shape) internal pure returns (uint256 total) {
        // Down to an output: among the outputs, or through the run and then through the last item's trace.
        uint256 depth = shape.answers != 0 ? _depth(shape.answers) : _depth(shape.items) + _depth(shape.checkpoints);
        uint256 shown = shape.answers != 0 || shape.items == 1 ? depth : _depth(shape.items);
        // For an answer, the worker submits all outputs.
        uint256 nodes = 1 << (shape.answers != 0 ? depth : _hop(shown, shape.arityBits));
        total = _transaction(JOB_FULL, JOB_ZERO, CLAIM);
        total += _transaction(JOB_FULL + NODES_FULL + nodes * WORD, JOB_ZERO + NODES_ZERO, SUBMIT + nodes * NODE);
        if (shape.delivered.length == 0) return total + _transaction(CLAIMED_FULL, CLAIMED_ZERO, FINALISE + RELEASE);
        for (uint256 k = 0; k < shape.delivered.length; ++k) total += _delivery(shape, depth, k);
    }

    /// @dev The first delivery finalises, the last one releases the fee.
    function _delivery(Shape memory shape, uint256 depth, uint256 k) private pure returns (uint256) {
        uint256 output = shape.delivered[k];
        uint256 last = shape.delivered.length - 1;
        uint256 full = CLAIMED_FULL + DELIVERY_FULL;
        full += _padded(shape.headerBytes) + depth * WORD + _padded(output);
        uint256 execution = DELIVER + (k == 0 ? FINALISE : 0) + (k == last ? RELEASE : 0);
        if (last != 0) execution += k == 0 ? FIRST_MARK : MARK;
        execution += HEADER_BYTE * shape.headerBytes + SIBLING * depth + OUTPUT_BYTE * output;
        // The bytes are in memory for the log, and once more for a callback. Fractions are summed before rounding.
        uint256 copies = shape.callbackGas == 0 ? 1 : 2;
        uint256 square = (copies * output) * (copies * output);
        uint256 rest = WORD * WORD * MEMORY_DIVISOR;
        if (shape.callbackGas != 0) execution += shape.callbackGas + CALLBACK;
        // Copying one byte for a callback costs a fifth.
        uint256 fifths = shape.callbackGas == 0 ? 0 : output;
        execution += (fifths * rest + square * 5 + rest * 5 - 1) / (rest * 5);
        return _transaction(full, CLAIMED_ZERO + DELIVERY_ZERO, execution);
    }

    function _covering(uint256 gas, uint256 gasPrice) private pure returns (uint256) {
        return (gas * gasPrice * COVERED_PERCENT + 99) / 100;
    }

    function _transaction(uint256 full, uint256 zero, uint256 execution) private pure returns (uint256) {
        uint256 spent = BYTE * full + ZERO_BYTE * zero + execution;
        uint256 floor = BYTE_FLOOR * full + ZERO_FLOOR * zero;
        return TRANSACTION + (spent > floor ? spent : floor);
    }

    function _padded(uint256 length) private pure returns (uint256) {
        return ((length + WORD - 1) / WORD) * WORD;
    }

    /// @dev Levels of a list.
    function _depth(uint256 leaves) private pure returns (uint256 depth) {
        while (1 << depth < leaves) ++depth;
    }

    /// @dev Levels that a submission shows at once (src/chain/market/revealLevels.ts).
    function _hop(uint256 depth, uint256 arityBits) private pure returns (uint256) {
        if (depth == 0) return 0;
        uint256 hops = (depth + arityBits - 1) / arityBits;
        return (depth + hops - 1) / hops;
    }
}
