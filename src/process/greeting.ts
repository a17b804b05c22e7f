// What a start prints for people.

import type { Gateway } from '../gateway/gateway.ts';
import { commandLine } from './command-line.ts';

/** The lines that a start prints. */
export function greeting(gateway: Gateway, publicUrl: string | undefined): string {
  const { first, addresses, caFile } = gateway;
  const secrets = first ? [...(first.apiKey ? [`API key: ${first.apiKey}`] : []), `Authtoken: ${first.authtoken}`] : [];
  const ready = `ready ${Object.entries(addresses)
    .map(([name, address]) => `${name}=${address}`)
    .join(' ')}`;
  const key = first?.apiKey ?? '<API key>';
  const curl = [
    `curl -X POST ${addresses.api}/credentials`,
    `-H 'Authorization: Bearer ${key}'`,
    `-H 'Service-Version: 2'`,
    `-H 'Content-Type: application/json'`,
    `-d '{"description":"my first device"}'`,
  ].join(' ');
  const agent = [
    `TUNNEL_AUTHTOKEN=${first?.authtoken ?? '<authtoken>'}`,
    `GATEWAY_ADDR=${addresses.agent}`,
    `GATEWAY_CA=${caFile}`,
    commandLine('agent', 'http', '3000'),
  ].join(' ');
  return [
    ...secrets,
    ready,
    '',
    'Create a credential:',
    `  ${curl}`,
    'Open a tunnel to a program on port 3000:',
    `  ${agent}`,
    'Explore the API in a browser:',
    `  ${addresses.api}/graphql`,
    `Dashboard: ${dashboardUrl(gateway, publicUrl)}`,
    '',
  ].join('\n');
}

/** The URL of the dashboard. While no admin has a password, it contains the token to set one. */
function dashboardUrl({ addresses, signInToken }: Gateway, publicUrl: string | undefined): string {
  // A listener on all addresses is also on loopback, where browsers allow signing in over plain HTTP.
  const own = addresses.api.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  return `${publicUrl ?? own}/dashboard/${signInToken === null ? '' : `sign-in#${signInToken}`}`;
}
