// Content types by the extension of a file's name, as the registry of IANA has them.

const TEXT: Record<string, string> = {
  css: 'text/css',
  csv: 'text/csv',
  htm: 'text/html',
  html: 'text/html',
  js: 'text/javascript',
  log: 'text/plain',
  md: 'text/markdown',
  mjs: 'text/javascript',
  txt: 'text/plain',
  vtt: 'text/vtt',
  xml: 'text/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
};

const OTHER: Record<string, string> = {
  avif: 'image/avif',
  gif: 'image/gif',
  gz: 'application/gzip',
  ico: 'image/vnd.microsoft.icon',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  m4a: 'audio/mp4',
  map: 'application/json',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  ogg: 'audio/ogg',
  otf: 'font/otf',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  tar: 'application/x-tar',
  ttf: 'font/ttf',
  wasm: 'application/wasm',
  wav: 'audio/wav',
  webm: 'video/webm',
  webmanifest: 'application/manifest+json',
  webp: 'image/webp',
  woff: 'font/woff',
  woff2: 'font/woff2',
  zip: 'application/zip',
};

/** The content type of a file: bytes (`application/octet-stream`) when its extension is not known. */
export function contentTypeOf(name: string): string {
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  if (Object.hasOwn(TEXT, extension)) return `${TEXT[extension]}; charset=utf-8`;
  return Object.hasOwn(OTHER, extension) ? (OTHER[extension] as string) : 'application/octet-stream';
}
