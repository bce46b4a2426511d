// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Erf} from "./elementary/Erf.sol";
import {Exp} from "./elementary/Exp.sol";
import {Log} from "./elementary/Log.sol";
import {Pow} from "./elementary/Pow.sol";
import {Sigmoid} from "./elementary/Sigmoid.sol";
import {Tanh} from "./elementary/Tanh.sol";
import {IElementary} from "./IElementary.sol";

/// @title The dispatch over the functions of contracts/verifier/elementary.
/// @dev Each file there mirrors the file of the same name in src/numerics/elementary, function by function and line by line; that is where
/// the error bounds are derived. All numbers of a function fit 256 bits, as the comments say, so the arithmetic is unchecked.
contract Elementary is IElementary {
    uint256 private constant POW = 0x18;
    uint256 private constant EXP = 0x50;
    uint256 private constant LOG = 0x51;
    uint256 private constant TANH = 0x52;
    uint256 private constant SIGMOID = 0x53;
    uint256 private constant ERF = 0x54;

    /// @inheritdoc IElementary
    function evaluate(uint256 opcode, uint256 a, uint256 b) external pure returns (uint256 word) {
        a &= 0xffffffff;
        b &= 0xffffffff;
        if (opcode == EXP) return Exp.exp(a);
        if (opcode == LOG) return Log.log(a);
        if (opcode == TANH) return Tanh.tanh(a);
        if (opcode == SIGMOID) return Sigmoid.sigmoid(a);
        if (opcode == ERF) return Erf.erf(a);
        if (opcode == POW) return Pow.pow(a, b);
        revert UnknownFunction(opcode);
    }
}
