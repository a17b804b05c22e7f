// Which authtoken an agent connects with: that of its configuration, or the one that its device was given with a provisioning key.

import { hostname } from 'node:os';
import type { ClientOptions } from '../gateway-client.ts';
import type { Log } from '../log.ts';
import { type AgentConfig, ConfigError } from '../settings/config.ts';
import type { Device } from './device-file.ts';
import { exchangeKey, targetOf } from './exchange-key.ts';

/**
 * @param device undefined when there is an authtoken in the configuration, and nothing is kept.
 * @returns the authtoken, or what gets one when the client connects.
 * @throws {ConfigError} when there is neither an authtoken nor a provisioning key.
 */
export function authtokenOf(config: AgentConfig, device: Device | undefined, log: Log): ClientOptions['authtoken'] {
  if (config.authtoken !== '') return config.authtoken;
  const { provisioning } = config;
  if (device?.authtoken && !provisioning) return device.authtoken;
  if (!provisioning || !device)
    throw new ConfigError(
      'TUNNEL_AUTHTOKEN must be set to the authtoken of a credential, or TUNNEL_PROVISIONING_KEY to a provisioning key',
    );
  let pending: Promise<string> | undefined;
  return (refused) => {
    const { authtoken } = device;
    if (authtoken !== null && authtoken !== refused) return Promise.resolve(authtoken);
    if (refused !== null)
      log('warn', 'the credential of the device is not valid any more, and another one is asked for');
    // Sessions that are opened at once share the exchange.
    pending ??= provision(provisioning, device).finally(() => {
      pending = undefined;
    });
    return pending;
  };

  async function provision({ key, api }: NonNullable<AgentConfig['provisioning']>, { id, isKept }: Device) {
    // Each start would use the key up once more.
    if (!isKept) throw new Error('the device file cannot be written, so that no credential is asked for');
    const names = { name: config.name, hostName: hostname() };
    const access = { api, ca: config.ca, proxy: config.proxyFor(targetOf(api)) };
    const authtoken = await exchangeKey(access, { provisioningKey: key, deviceId: id, ...names });
    await device?.keepAuthtoken(authtoken);
    log('info', 'the device has got a credential of its own');
    return authtoken;
  }
}
