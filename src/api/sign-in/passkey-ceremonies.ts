// What the gateway asks of a passkey, and whether an answer is right (WebAuthn Level 3, sections 7.1 and 7.2). Nothing of a
// question is stored: it is sealed in a cookie, so that only the browser that was asked can answer.

import { isIP } from 'node:net';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { NewPasskey } from '../../store/sign-in/passkeys.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors/errors.ts';

/** How long somebody may take to answer; milliseconds. */
const CHALLENGE_MS = 5 * 60_000;
const SIGN_IN = 'sign-in';
/** Ed25519, ES256 and RS256 (RFC 9053 and RFC 8812): every device has one of them. */
const ALGORITHMS = [-8, -7, -257];
/** WebAuthn Level 3, section 4: of a credential ID. In base64url. */
const CREDENTIAL_ID_MAX = Math.ceil((1023 * 4) / 3);
const TRANSPORTS_MAX = 8;
const TRANSPORT = /^[a-z-]{1,32}$/;

/** For whom passkeys are: the RP ID, and the origin of the pages that may ask for them. */
interface RelyingParty {
  id: string;
  origin: string;
}

/** A question that a browser was asked. */
export interface PasskeyChallenge {
  /** In base64url. */
  challenge: string;
  /** The user who adds a passkey, or `sign-in`: then anybody. */
  for: string;
  /** When it was asked, in milliseconds of the wall clock. */
  at: number;
}

/** From when on a challenge does not work; milliseconds. */
export const expiryOf = ({ at }: PasskeyChallenge) => at + CHALLENGE_MS;

/** It is loaded when it is first needed, as most starts never need it. */
const library = () => import('@simplewebauthn/server');

/** The host name that passkeys of the dashboard are for; null at an IP address and without TLS, where browsers have none. */
export function passkeyHostOf(baseUrl: string): string | null {
  const { protocol, hostname } = new URL(baseUrl);
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  const isName = isIP(hostname.replace(/^\[|\]$/g, '')) === 0;
  return isName && (protocol === 'https:' || isLocal) ? hostname : null;
}

/** @throws {ApiError} where no passkeys are offered. */
function relyingPartyOf({ baseUrl }: Context): RelyingParty {
  const id = passkeyHostOf(baseUrl);
  if (id === null) throw new ApiError('passkeysNotOffered');
  return { id, origin: new URL(baseUrl).origin };
}

/** Asks the browser for a new passkey of a user. @param at when the user proved the password; milliseconds. */
export async function askForNewPasskey(
  context: Context,
  user: { id: string; subject: string },
  { known, at }: { known: { credentialId: string; transports: string[] }[]; at: number },
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { id: rpID } = relyingPartyOf(context);
  const { generateRegistrationOptions } = await library();
  const options = await generateRegistrationOptions({
    ...{ rpID, rpName: 'Tunnel Gateway', userName: user.subject, userDisplayName: user.subject },
    userID: new Uint8Array(Buffer.from(user.id)),
    excludeCredentials: known.map(({ credentialId: id, transports }) => ({ id, transports })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    ...{ attestationType: 'none', supportedAlgorithmIDs: ALGORITHMS, timeout: CHALLENGE_MS },
  });
  setChallenge(context, { challenge: options.challenge, for: user.id, at });
  return options;
}

/** Asks the browser for any passkey of the dashboard. */
export async function askForPasskey(context: Context): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { id: rpID } = relyingPartyOf(context);
  const { generateAuthenticationOptions } = await library();
  const options = await generateAuthenticationOptions({ rpID, userVerification: 'required', timeout: CHALLENGE_MS });
  setChallenge(context, { challenge: options.challenge, for: SIGN_IN, at: context.app.now() });
  return options;
}

function setChallenge({ app, client }: Context, asked: PasskeyChallenge): void {
  client.setPasskeyChallenge(app.keys.seal(JSON.stringify(asked), placeOf(asked.for)));
}

/**
 * Takes back what the browser was asked.
 * @param user who adds a passkey; left out: somebody signs in.
 * @throws {ApiError} when that was too long ago, something else, or another browser.
 */
export function takeChallenge({ app, client }: Context, user = SIGN_IN): PasskeyChallenge {
  const asked = opened(() => app.keys.open(client.passkeyChallenge ?? '', placeOf(user)));
  client.setPasskeyChallenge(null);
  if (!asked || app.now() >= expiryOf(asked)) throw new ApiError('passkeyAttemptOver');
  return asked;
}

const placeOf = (user: string) => `passkey challenge:${user}`;

function opened(open: () => string): PasskeyChallenge | undefined {
  try {
    return JSON.parse(open()) as PasskeyChallenge;
  } catch {
    return undefined; // Anybody can send anything.
  }
}

/** An answer that is not what was asked for. Its message is for the log alone: anybody may have written it. */
export class PasskeyNotPassed extends Error {}

/** The new passkey of an answer. @throws {PasskeyNotPassed} */
export async function verifyNewPasskey(
  context: Context,
  { challenge }: PasskeyChallenge,
  answer: unknown,
): Promise<Omit<NewPasskey, 'name'>> {
  const party = relyingPartyOf(context);
  const { verifyRegistrationResponse } = await library();
  const response = answer as RegistrationResponseJSON;
  return passed(async () => {
    await checkAttestation(response.response.attestationObject);
    checkSameOrigin(response.response.clientDataJSON);
    const { registrationInfo } = await verifyRegistrationResponse({
      ...{ response, expectedChallenge: challenge, requireUserVerification: true, supportedAlgorithmIDs: ALGORITHMS },
      ...{ expectedOrigin: party.origin, expectedRPID: party.id },
    });
    if (!registrationInfo) throw new PasskeyNotPassed('the attestation is wrong');
    const { id, publicKey, counter, transports } = registrationInfo.credential;
    if (id.length > CREDENTIAL_ID_MAX) throw new PasskeyNotPassed('the credential ID is too long');
    return { credentialId: id, publicKey, counter, transports: transportsIn(transports) };
  });
}

/**
 * Nobody asks who has made a device. The library would look other attestations up at addresses that they name.
 * Browsers leave one that a device makes with the new key itself, as it tells nothing.
 */
async function checkAttestation(attestationObject: string): Promise<void> {
  const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers');
  const decoded = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
  const format = decoded.get('fmt');
  const isOfKey = format === 'packed' && !decoded.get('attStmt').get('x5c');
  if (format !== 'none' && !isOfKey) throw new PasskeyNotPassed(`the attestation is of the format ${format}`);
}

/** No other site has the dashboard in a frame. */
function checkSameOrigin(clientDataJson: string): void {
  const { crossOrigin } = JSON.parse(Buffer.from(clientDataJson, 'base64url').toString()) as { crossOrigin?: boolean };
  if (crossOrigin) throw new PasskeyNotPassed('another site had the page in a frame');
}

function transportsIn(given: unknown): string[] {
  const all: unknown[] = Array.isArray(given) ? given.slice(0, TRANSPORTS_MAX) : [];
  return all.filter((one): one is string => typeof one === 'string' && TRANSPORT.test(one));
}

/** What the device calls the passkey of an answer, in base64url; '' when it does not say. */
export function credentialIdIn(answer: unknown): string {
  const { id } = (answer ?? {}) as { id?: unknown };
  return typeof id === 'string' && id.length <= CREDENTIAL_ID_MAX ? id : '';
}

/**
 * Whether the passkey of a user has given an answer.
 * @returns what the device has counted; the database knows whether that is further than before.
 * @throws {PasskeyNotPassed}
 */
export async function verifyPasskey(
  context: Context,
  { challenge }: PasskeyChallenge,
  answer: unknown,
  of: { userId: string; publicKey: Uint8Array },
): Promise<number> {
  const party = relyingPartyOf(context);
  const { verifyAuthenticationResponse } = await library();
  const response = answer as AuthenticationResponseJSON;
  return passed(async () => {
    if (response.response.userHandle !== Buffer.from(of.userId).toString('base64url'))
      throw new PasskeyNotPassed('the answer is of another user');
    checkSameOrigin(response.response.clientDataJSON);
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      ...{ response, expectedChallenge: challenge, requireUserVerification: true },
      ...{ expectedOrigin: party.origin, expectedRPID: party.id },
      credential: { id: response.id, publicKey: new Uint8Array(of.publicKey), counter: 0 },
    });
    if (!verified) throw new PasskeyNotPassed('the signature is wrong');
    return authenticationInfo.newCounter;
  });
}

/** Answers may be anything, so that whatever fails in looking at one is its fault. */
async function passed<T>(look: () => Promise<T>): Promise<T> {
  try {
    return await look();
  } catch (error) {
    throw error instanceof PasskeyNotPassed ? error : new PasskeyNotPassed(String((error as Error).message));
  }
}
