// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @dev Version of the semantics that programs, the verifier and the game follow (docs/program.md).
uint256 constant SEMANTICS = 2;
