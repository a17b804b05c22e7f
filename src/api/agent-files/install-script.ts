// The script that installs the agent, with the values of this gateway. It has no secret: who installs brings the authtoken.

import { readFile } from 'node:fs/promises';
import type { ApiApp } from '../context.ts';
import { agentAddress } from '../resources/overview/agent-address.ts';
import { apiNeedsCa } from '../resources/overview/api-certificate.ts';
import type { AgentFiles } from './files.ts';

/** @param baseUrl where the API is, as the one who asks came here. */
export async function installScript(
  { installer, sha256 }: AgentFiles,
  app: Pick<ApiApp, 'agentEndpoint' | 'config'>,
  baseUrl: string,
): Promise<string> {
  const endpoint = app.agentEndpoint();
  const address = agentAddress(endpoint, baseUrl);
  const needsCa = !(await endpoint.hasOwnCertificate(address.replace(/:\d+$/, '')));
  const isApiPrivate = await apiNeedsCa(app, baseUrl);
  const values = {
    gateway_api: baseUrl,
    gateway_addr: address,
    agent_sha256: sha256.toString('hex'),
    gateway_ca: needsCa || isApiPrivate ? (await readFile(endpoint.caFile, 'utf8')).trim() : '',
    api_ca: isApiPrivate ? 'yes' : 'no',
  };
  const lines = Object.entries(values).map(([name, value]) => `${name}='${value.replaceAll("'", "'\\''")}'`);
  return `#!/bin/sh\n${lines.join('\n')}\n\n${installer}`;
}
