// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {WrappedEther} from "../examples/WrappedEther.sol";

/// @notice A token that anybody may mint.
contract TestToken is ERC20 {
    constructor() ERC20("Test token", "TEST") {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}

/// @notice A token that keeps 1 % from each transfer.
contract FeeToken is ERC20 {
    constructor() ERC20("Fee token", "FEE") {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function _update(address from, address to, uint256 amount) internal override {
        uint256 fee = from == address(0) || to == address(0) ? 0 : amount / 100;
        if (fee != 0) super._update(from, address(0), fee);
        super._update(from, to, amount - fee);
    }
}

/// @notice A token that calls the vault back from inside a transfer, once armed.
contract ReentrantToken is ERC20 {
    address public vault;
    bytes public payload;
    bool public lastCallSucceeded;

    constructor() ERC20("Reentrant token", "RE") {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function arm(address vault_, bytes calldata payload_) external {
        vault = vault_;
        payload = payload_;
    }

    function approveVault(uint256 amount) external {
        _approve(address(this), vault, amount);
    }

    function _update(address from, address to, uint256 amount) internal override {
        super._update(from, to, amount);
        bytes memory call = payload;
        if (call.length == 0) return;
        delete payload;
        (lastCallSucceeded, ) = vault.call(call);
    }
}

/// @notice Wrapped ether that makes configured calls before and after the balances of each transfer change.
contract HostileToken is WrappedEther {
    struct Call {
        address to;
        bytes data;
    }

    event Tried(address indexed to, bytes4 indexed selector, bool succeeded);

    Call[] public calls;
    bool private _isBusy;

    /// @notice Takes over the calls to make from now on.
    function arm(Call[] calldata calls_) external {
        delete calls;
        for (uint256 i = 0; i < calls_.length; ++i) calls.push(calls_[i]);
    }

    function _update(address from, address to, uint256 amount) internal override {
        _callAll();
        super._update(from, to, amount);
        _callAll();
    }

    function _callAll() private {
        if (_isBusy) return;
        _isBusy = true;
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool succeeded, ) = calls[i].to.call(calls[i].data);
            emit Tried(calls[i].to, bytes4(calls[i].data), succeeded);
        }
        _isBusy = false;
    }
}

/// @notice A token with other decimals than the chain's native one.
contract DecimalsToken is ERC20("Decimals", "DEC") {
    uint8 private immutable _decimals;

    constructor(uint8 decimals_) {
        _decimals = decimals_;
    }

    function decimals() public view override returns (uint8) {
        return _decimals;
    }
}
