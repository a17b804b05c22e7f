// What the browser does with passkeys (WebAuthn): it makes one, or signs with one.

import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import { ApiFailure } from '../client/client.ts';

/** What the browser calls it when the user cancels, waits too long, or has none. */
const NOT_ALLOWED = 'NotAllowedError';
/** What it says when the device has a passkey of the user already. */
const INVALID_STATE = 'InvalidStateError';

/** Whether this page can make and use passkeys. @param host the name that they are for; null: the gateway offers none. */
export function supportsPasskeys(host: string | null): boolean {
  return host === location.hostname && browserSupportsWebAuthn();
}

/** Has a device make a passkey. @param options as the API has given them. @throws ApiFailure */
export function createPasskey(options: unknown): Promise<unknown> {
  return answered(startRegistration({ optionsJSON: options as PublicKeyCredentialCreationOptionsJSON }));
}

/** Has a device sign with a passkey. @param options as the API has given them. @throws ApiFailure */
export function signWithPasskey(options: unknown): Promise<unknown> {
  return answered(startAuthentication({ optionsJSON: options as PublicKeyCredentialRequestOptionsJSON }));
}

async function answered(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    throw new ApiFailure(messageOf(error as Error), { code: 'DASHBOARD' });
  }
}

function messageOf({ name, message }: Error): string {
  if (name === NOT_ALLOWED) return 'No passkey was chosen, or it took too long. Try again.';
  if (name === INVALID_STATE) return 'This device has a passkey of yours already.';
  return `The browser has refused: ${message}`;
}
