// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Pick} from "../types/GameState.sol";

/// @title What moves are worth in gas. A worker's moves are paid from the challenger's bond, a challenger's own moves
/// from the collateral of a claim that dies.
/// @dev A move is paid what its transaction burns, as the contract measures it, and at most the move's price here. A
/// price is close above what the transaction burns with calldata that holds no zeros: less would starve the honest.
///
/// Measured on the game of test/contracts/game/gasSchedule.test.ts: 16 checkpoints, 16 steps and 16 chunks, so that
/// every reveal has 16 children, and the claim's first game, which fills empty storage. Its test
/// `moves_inFullLists_costAtMostTheirPrice_andNotMuchLess` holds each price of a move between what the transaction
/// burns and 5 % more. All constants are in gas, unless they say otherwise; src/dispute/moveGas.ts has the same,
/// held to these by test/dispute/worstDispute.test.ts.
library GasSchedule {
    /* ---- Prices of moves ---- */

    /// @dev An opening at the run root: claim and pick in calldata, the bond, the game's and the claim's words.
    /// Measured: `open` of that game, less its four levels and its crossing.
    uint256 private constant OPEN = 112_000;
    /// @dev A pick, without its levels. Measured: both picks of that game.
    uint256 private constant PICK = 52_000;
    /// @dev Crossing into another list, beside the levels of the program's lists and the header. Measured: the opening
    /// and the first pick of that game; `pick_fromTheTraceStraightToATensor_isPaidAsBurnt` crosses twice at once.
    uint256 private constant SEAM = 6_200;
    /// @dev A sibling of a path: 32 bytes of calldata and a hash. Measured: the moves of that game with paths.
    uint256 private constant LEVEL = 800;
    /// @dev A reveal of a chunk: 512 bytes of calldata, their log and hash. Measured: the last reveal of that game.
    uint256 internal constant CHUNK = 60_900;
    /// @dev An expansion, without its children and levels. Measured: `expand` of that game, and of an answer's output
    /// into the longest run, with 24 levels, which take more than picks' few: test/contracts/game/answerGas.test.ts.
    uint256 private constant EXPAND = 51_500;
    /// @dev A reveal, without its children. Measured: the first reveal of that game, of 16 children.
    uint256 private constant REVEAL = 46_600;
    /// @dev A child: 32 bytes of calldata, their log and a hash. Measured: the reveal and the expansion of 16.
    uint256 private constant CHILD = 1_115;
    /// @dev A byte of a program's header, at the calldata floor (EIP-7623) of a byte that is not zero.
    uint256 private constant HEADER_BYTE = 40;

    /* ---- Prices of ends ---- */

    /// @dev What a proof's transaction burns after it has been measured: the claim's death and its payments. Measured:
    /// `prove_isPaidAtWhatItCosts` of gas.test.ts holds what is paid between what is burnt and 15 % more.
    uint256 internal constant CLOSE = 85_000;
    /// @dev The reward for a timeout, flat. Above what the call burns where it fills accounts that were empty; it burns
    /// 70,000 at least (docs/economics.md).
    uint256 internal constant TIMEOUT = 150_000;
    /// @dev What a step proof may be paid above the estimate in the header, which has the game's part in it
    /// (src/program/gas.ts): a margin. `proofThatBurnsMoreThanItsPrice_isPaidItsPrice` of
    /// test/contracts/game/gasPrices.test.ts.
    uint256 internal constant PROVE_MARGIN = 200_000;
    /// @dev Taking one's bond back after the claim's death in another game; and what the last of these calls costs
    /// more, which pays the sink what the others left. Measured: three games on one claim, in a chunk of an item of a
    /// run, also of one whose answer is claimed: `settle_whereAGameStandsInAChunk...` of
    /// test/contracts/game/runGas.test.ts.
    uint256 private constant SETTLE = 58_100;
    uint256 private constant LAST = 8_000;
    /// @dev The reward for freeing an abandoned job, flat. The call burns 69,000 at least (docs/economics.md).
    uint256 internal constant EXPIRE = 100_000;

    /* ---- What a move burns unmeasured ---- */

    /// @dev What a move's transaction burns beside what is measured (`paid`): before its first line, and for writing
    /// and logging the new state. An opening's; another move's; what logging children or a chunk takes more; and of
    /// that a byte, 8 for the log and the rest for copies. Measured: test/contracts/game/gasPrices.test.ts holds what
    /// is paid for a move between what it burns and 700 more, gas.test.ts an opening's between what it burns and 2 %
    /// more.
    uint256 internal constant OPEN_END = 25_850;
    uint256 internal constant MOVE_END = 11_600;
    uint256 private constant LOGGED = 418;
    uint256 private constant LOGGED_BYTE = 9;

    /* ---- The largest games ---- */

    /// @dev Longest header of a program that is served, bytes.
    uint256 internal constant MAX_HEADER = 2_048;
    /// @dev Levels that the largest games are assumed to have: 4 of an answer's outputs, 16 of items, 12 of
    /// checkpoints, 12 of steps, 20 of chunks.
    uint256 private constant LEVELS_ANSWER = 4;
    uint256 private constant LEVELS_RUN = 16;
    uint256 private constant LEVELS_TRACE = 12;
    uint256 private constant LEVELS_INTERIOR = 12;
    uint256 private constant LEVELS_TENSOR = 20;
    /// @dev Levels of a program's own lists, of steps and of checkpoints.
    uint256 private constant LEVELS_STEPS = 24;

    /* ---- A transaction's gas: EIP-7623 ---- */

    uint256 private constant TRANSACTION = 21_000;
    /// @dev Standard price of a byte of calldata, and the floor's.
    uint256 private constant NONZERO_BYTE = 16;
    uint256 private constant ZERO_BYTE = 4;
    uint256 private constant NONZERO_FLOOR = 40;
    uint256 private constant ZERO_FLOOR = 10;

    /// @dev Calldata that `_nonzeroBytes` counts at once: 252 words.
    uint256 private constant COUNTED_BYTES = 8_064;

    /* ---- Functions ---- */

    /// @notice What a unit of gas is paid: as wanted, at most `cap`. At least 1 if the cap allows it, because
    /// eth_estimateGas runs with a base fee of 0 and must see the same storage written.
    /// @param wanted Smallest units of the stake asset for a unit of gas, as `cap` and the result.
    function price(uint256 wanted, uint256 cap) internal pure returns (uint256) {
        if (wanted > cap) return cap;
        // What is estimated takes the longest way.
        if (wanted != 0) return wanted;
        return cap == 0 ? 0 : 1;
    }

    /// @notice Gas of revealing `2^hop` children.
    function reveal(uint256 hop) internal pure returns (uint256) {
        return REVEAL + (CHILD << hop);
    }

    /// @notice Gas of opening a game `levels` below the run root.
    function open(uint256 levels) internal pure returns (uint256) {
        return OPEN + LEVEL * levels;
    }

    /// @notice Gas of taking a bond back from a dead claim, the last one if no game is left then.
    function settle(uint256 left) internal pure returns (uint256) {
        return left == 0 ? SETTLE + LAST : SETTLE;
    }

    /// @notice Gas of all settlements of the `games` that a claim's death leaves behind.
    function settlements(uint256 games) internal pure returns (uint256) {
        return games == 0 ? 0 : SETTLE * games + LAST;
    }

    /// @notice The highest price that a unit of gas can have in the next block (EIP-1559), as `price` caps it.
    function nextPrice(uint256 cap) internal view returns (uint256) {
        return price(block.basefee + block.basefee / 8 + 1, cap);
    }

    /// @notice Gas of a pick of `levels` levels.
    function pick(uint256 levels) internal pure returns (uint256) {
        return PICK + LEVEL * levels;
    }

    /// @notice Gas of crossing into another list with a pick.
    function seam(Pick calldata p) internal pure returns (uint256) {
        return _seam(p.checkpoint.siblings.length + p.step.siblings.length, p.program.header.length);
    }

    /// @notice What a move burns unmeasured that logs `length` bytes of children or chunk.
    function moveEnd(uint256 length) internal pure returns (uint256) {
        return MOVE_END + LOGGED + LOGGED_BYTE * length;
    }

    /// @notice Gas of an expansion with `2^hop` children and a path of `levels` siblings.
    function expand(uint256 hop, uint256 levels) internal pure returns (uint256) {
        return EXPAND + (CHILD << hop) + LEVEL * levels;
    }

    /// @notice The maximum gas that a worker spends in one game with arity 2^k.
    function worstWorker(uint256 k) internal pure returns (uint256) {
        // Each expansion carries the first reveal of its list: that of an output into the run, which shows the path of
        // a checkpoint too, and that of a range into its interior.
        uint256 reveals =
            _ceil(LEVELS_RUN, k) + _ceil(LEVELS_TRACE, k) + _ceil(LEVELS_INTERIOR, k) - 2 + _ceil(LEVELS_TENSOR, k);
        uint256 expansions = expand(k, LEVELS_RUN + LEVELS_TRACE) + expand(k, LEVELS_INTERIOR);
        return reveals * reveal(k) + expansions + CHUNK + TIMEOUT;
    }

    /// @notice The maximum gas that a challenger spends in one game with arity 2^k and step proofs up to `maxStepGas`.
    function worstChallenger(uint256 k, uint256 maxStepGas) internal pure returns (uint256) {
        uint256 picks =
            _ceil(LEVELS_RUN, k) + _ceil(LEVELS_TRACE, k) + _ceil(LEVELS_INTERIOR, k) + _ceil(LEVELS_TENSOR, k);
        uint256 levels = LEVELS_ANSWER + LEVELS_RUN + LEVELS_TRACE + LEVELS_INTERIOR + LEVELS_TENSOR;
        // At the output, which shows the header alone, at the checkpoint and at the step.
        uint256 seams = _seam(0, MAX_HEADER) + 2 * _seam(2 * LEVELS_STEPS, MAX_HEADER);
        return OPEN + SETTLE + picks * PICK + LEVEL * levels + seams + maxStepGas + PROVE_MARGIN;
    }

    function _seam(uint256 levels, uint256 headerBytes) private pure returns (uint256) {
        return SEAM + LEVEL * levels + HEADER_BYTE * headerBytes;
    }

    /// @notice Whether the caller is a plain account: no contract, nor an account that delegates to one (EIP-7702).
    function isPlain() internal view returns (bool) {
        // solhint-disable-next-line avoid-tx-origin
        return msg.sender == tx.origin && msg.sender.code.length == 0;
    }

    /// @notice What of a move's gas is paid: all of it to a plain account, whose move is a transaction of its own;
    /// nothing to a contract, or to an account that delegates to one (EIP-7702).
    function paid(uint256 gas) internal view returns (uint256) {
        // SAFETY: calls in one transaction share its 21,000 and its warm storage, and only a transaction pays for
        // calldata. A caught cheat could play many games against itself in one transaction for half their price, and so
        // have back what should go to the sink.
        return isPlain() ? gas : 0;
    }

    /// @notice As `paid`, and no more than the transaction burns.
    /// @param most The move's price, gas.
    /// @param start The gas that was left when its call began, and what it burns beside what was measured until then.
    function paid(uint256 most, uint256 start) internal view returns (uint256) {
        uint256 gas = paid(most);
        // SAFETY: lengths alone do not say what a move costs: zeros in calldata, and storage that is not empty, are
        // cheaper. A caught cheat would choose them.
        return gas == 0 ? 0 : Math.min(gas, transactionGas(start));
    }

    /// @notice Gas of this transaction, if it is a call from outside: EIP-7623's rule. `start` as in `paid`.
    function transactionGas(uint256 start) internal view returns (uint256) {
        unchecked {
            uint256 others = _nonzeroBytes();
            uint256 zeros = msg.data.length - others;
            uint256 used = start - gasleft() + NONZERO_BYTE * others + ZERO_BYTE * zeros;
            return TRANSACTION + Math.max(used, NONZERO_FLOOR * others + ZERO_FLOOR * zeros);
        }
    }

    /// @dev Bytes of the calldata that are not zero, a word at a time, four words a turn. Past its end calldata reads
    /// as zeros. Counts are summed in the 32 bytes of a word: they overflow after 255 words, so that they are collected
    /// every 63 turns, 252 words of 32 bytes.
    function _nonzeroBytes() private pure returns (uint256 others) {
        assembly ("memory-safe") {
            // Masks for each byte of a word: its lower seven bits, and its lowest bit. The lower byte of each pair.
            let low := 0x7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f
            let ones := 0x0101010101010101010101010101010101010101010101010101010101010101
            let pairs := 0x00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff
            // One in each byte of a word that is not zero: its seven bits plus 127 carry into the eighth, or that is
            // set.
            function marks(offset, mask, units) -> m {
                let word := calldataload(offset)
                m := and(shr(7, or(add(and(word, mask), mask), word)), units)
            }
            let size := calldatasize()
            let offset := 0
            for {} lt(offset, size) {} {
                // The end of these 63 turns, or of the calldata.
                let end := add(offset, COUNTED_BYTES)
                if gt(end, size) {
                    end := size
                }
                let counts := 0
                for {} lt(offset, end) {
                    offset := add(offset, 0x80)
                } {
                    counts := add(counts, marks(offset, low, ones))
                    counts := add(counts, marks(add(offset, 0x20), low, ones))
                    counts := add(counts, marks(add(offset, 0x40), low, ones))
                    counts := add(counts, marks(add(offset, 0x60), low, ones))
                }
                // Bytes to pairs, and the sixteen pairs to one number, which has 16 bits.
                counts := add(and(counts, pairs), and(shr(8, counts), pairs))
                others := add(
                    others,
                    shr(240, mul(counts, 0x0001000100010001000100010001000100010001000100010001000100010001))
                )
            }
        }
    }

    function _ceil(uint256 levels, uint256 k) private pure returns (uint256) {
        return (levels + k - 1) / k;
    }
}
