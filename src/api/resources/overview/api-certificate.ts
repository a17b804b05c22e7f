// Whether those who call the API have to be given the certificate that it shows.

import type { ApiApp } from '../../context.ts';

/** Whether the listener shows a certificate of the development authority, as none was obtained yet. */
export async function apiNeedsCa(
  { config, agentEndpoint }: Pick<ApiApp, 'agentEndpoint' | 'config'>,
  baseUrl: string,
): Promise<boolean> {
  return config.apiTls === 'obtained' && !(await agentEndpoint().hasOwnCertificate(new URL(baseUrl).hostname));
}
