// Example policies.

interface Example {
  title: string;
  text: string;
}

const http: readonly Example[] = [
  {
    title: 'Hide the admin pages from outside',
    text: `on_http_request:
  - name: nobody needs the admin pages from outside
    expressions:
      - "req.url.path.startsWith('/admin')"
      - "!conn.client_ip.isPrivateIp()"
    actions:
      - type: deny
        config:
          status_code: 404
`,
  },
  {
    title: 'Limit how often a visitor may ask',
    text: `on_http_request:
  - name: a hundred requests a minute for each address
    actions:
      - type: rate-limit
        config:
          name: by address
          algorithm: sliding_window
          capacity: 100
          rate: 1m
          bucket_key:
            - conn.client_ip
`,
  },
  {
    title: 'Add a header field to every answer',
    text: `on_http_response:
  - actions:
      - type: add-headers
        config:
          headers:
            x-served-by: "\${endpoint.host}"
`,
  },
];

const answer: readonly Example[] = [
  {
    title: 'A notice for everybody',
    text: `on_http_request:
  - name: a notice
    actions:
      - type: custom-response
        config:
          status_code: 503
          headers:
            content-type: text/plain; charset=utf-8
            retry-after: "3600"
          body: Back at noon.
`,
  },
  {
    title: 'Send visitors to another address',
    text: `on_http_request:
  - name: the shop has moved
    actions:
      - type: redirect
        config:
          to: https://shop.example.com
`,
  },
  {
    title: 'Forward to an internal endpoint',
    text: `on_http_request:
  - name: an agent serves it
    actions:
      - type: forward-internal
        config:
          url: https://app.internal
`,
  },
];

const connection: readonly Example[] = [
  {
    title: 'Let in one network only',
    text: `on_tcp_connect:
  - name: the office
    actions:
      - type: restrict-ips
        config:
          allow:
            - 192.0.2.0/24
`,
  },
];

const sendOn: readonly Example[] = [
  {
    title: 'Send connections to an internal endpoint',
    text: `on_tcp_connect:
  - name: the database
    actions:
      - type: forward-internal
        config:
          url: tcp://db.internal:5432
`,
  },
  ...connection,
];

/**
 * By what a policy is for: requests on their way, requests that it has to answer itself, connections as a whole, or connections that it
 * has to send on.
 */
export const examples = { http, answer, connection, sendOn };
