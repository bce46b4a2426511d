// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Says which classes workers hold: what a worker has shown that it can do.
interface IClasses {
    /// @notice Whether a worker holds a class now.
    /// @param worker The worker.
    /// @param class The class.
    /// @return Whether it does.
    function classHeld(address worker, uint8 class) external view returns (bool);
}
