// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IClasses} from "../interfaces/IClasses.sol";

/// @notice Says that one worker holds one class.
contract OneClass is IClasses {
    address private immutable _worker;
    uint8 private immutable _class;

    constructor(address worker, uint8 class) {
        _worker = worker;
        _class = class;
    }

    /// @inheritdoc IClasses
    function classHeld(address worker, uint8 class) external view returns (bool) {
        return worker == _worker && class == _class;
    }
}
