{{- /* What several templates share. */ -}}

{{- define "lockstep.labels" -}}
app.kubernetes.io/name: lockstep
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "lockstep.selector" -}}
app.kubernetes.io/name: lockstep
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- /* As the API server knows lockstepd. */ -}}
{{- define "lockstep.username" -}}
{{- .Values.controller.user | default (printf "system:serviceaccount:%s:%s" .Release.Namespace .Values.controller.account) -}}
{{- end }}

{{- /* CEL: the pod uses GPUs, by the rule by which lockstepd drains: whole GPUs and parts of them, init containers too, and any claim. */ -}}
{{- define "lockstep.gpus" -}}
size(object.spec.?resourceClaims.orValue([])) > 0 ||
(object.spec.containers + object.spec.?initContainers.orValue([])).exists(c,
  [c.?resources.?limits.orValue({}), c.?resources.?requests.orValue({})].exists(amounts,
    amounts.exists(r, (r.startsWith('nvidia.com/') || r.startsWith('amd.com/') ||
      r.startsWith('deviceclass.resource.kubernetes.io/')) && string(amounts[r]) != '0')))
{{- end }}

{{- /* Namespaces that opt in, without those of the system. */ -}}
{{- define "lockstep.namespaces" -}}
matchLabels:
  lockstep.dev/admission: enabled
matchExpressions:
- key: kubernetes.io/metadata.name
  operator: NotIn
  values: {{ append .Values.policy.excludedNamespaces .Release.Namespace | uniq | toJson }}
{{- end }}

{{- /* Without privileges, whichever user it is. */ -}}
{{- define "lockstep.confined" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}
