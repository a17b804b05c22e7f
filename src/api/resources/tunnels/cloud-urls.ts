// The URLs of cloud endpoints: as they are written, whatever the port of the listener is.

const PORT = 443;

/** The hostport of a URL in its normal form; undefined of what is no URL of a cloud endpoint. */
export function hostportOfCloudUrl(url: string): string | undefined {
  const [, name] = /^https:\/\/((?:\*\.)?[a-z0-9.-]+)(?::443)?\/?$/i.exec(url) ?? [];
  return name && `${name.toLowerCase()}:${PORT}`;
}

/** The normal form of the URL of a hostport. */
export function cloudUrlOf(hostport: string): string {
  return `https://${hostport.slice(0, -`:${PORT}`.length)}`;
}

/** The URL to show of the row of a hostport. */
export function shownCloudUrl({ hostport, written }: { hostport: string; written: string | null }): string {
  return written !== null && hostportOfCloudUrl(written) === hostport ? written : cloudUrlOf(hostport);
}
