; The installer for Windows, made by packaging/windows/installer.sh with NSIS.
; For the user who runs it, without administrator rights.

Unicode true
!include "MUI2.nsh"
!define APP "Countersign"
!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\${APP}"

Name "${APP}"
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\${APP}"
InstallDirRegKey HKCU "Software\${APP}" "folder"
RequestExecutionLevel user
SetCompressor /SOLID lzma
SetDateSave off

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!insertmacro MUI_PAGE_LICENSE "${ROOT}/LICENSE-MIT"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

VIProductVersion "${VERSION}.0"
VIAddVersionKey "ProductName" "${APP}"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "Installer of ${APP}"
VIAddVersionKey "LegalCopyright" "The Countersign authors"

Section
  SetOutPath "$INSTDIR"
  File "/oname=countersign.exe" "${PROGRAM}"
  File "/oname=countersign.ico" "${ICON}"
  File "${ROOT}/LICENSE-MIT"
  File "${ROOT}/LICENSE-APACHE"
  File "${ROOT}/README.md"
  File "${ROOT}/CHANGELOG.md"
  File "${THIRD_PARTY}"
  File "${SBOM}"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortcut "$SMPROGRAMS\${APP}.lnk" "$INSTDIR\countersign.exe" "" "$INSTDIR\countersign.ico"

  WriteRegStr HKCU "Software\${APP}" "folder" "$INSTDIR"
  WriteRegStr HKCU "${KEY}" "DisplayName" "${APP}"
  WriteRegStr HKCU "${KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${KEY}" "DisplayIcon" "$INSTDIR\countersign.ico"
  WriteRegStr HKCU "${KEY}" "Publisher" "The Countersign authors"
  WriteRegStr HKCU "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegDWORD HKCU "${KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${KEY}" "NoRepair" 1

  ; Only offered: Windows knows types by the last extension, and .json is not ours.
  WriteRegStr HKCU "Software\Classes\Applications\countersign.exe\shell\open\command" "" '"$INSTDIR\countersign.exe" "%1"'
  WriteRegStr HKCU "Software\Classes\Applications\countersign.exe\SupportedTypes" ".json" ""
  WriteRegStr HKCU "Software\Classes\Applications\countersign.exe\SupportedTypes" ".patch" ""
  WriteRegStr HKCU "Software\Classes\Applications\countersign.exe\SupportedTypes" ".diff" ""
  WriteRegStr HKCU "Software\Classes\Applications\countersign.exe\SupportedTypes" ".md" ""
  WriteRegStr HKCU "Software\Classes\Applications\countersign.exe\SupportedTypes" ".sarif" ""
  WriteRegStr HKCU "Software\Classes\Applications\countersign.exe\SupportedTypes" ".atrb" ""
SectionEnd

; Only what was installed: evidence, settings and keys are elsewhere and stay.
Section "Uninstall"
  Delete "$INSTDIR\countersign.exe"
  Delete "$INSTDIR\countersign.ico"
  Delete "$INSTDIR\LICENSE-MIT"
  Delete "$INSTDIR\LICENSE-APACHE"
  Delete "$INSTDIR\README.md"
  Delete "$INSTDIR\CHANGELOG.md"
  Delete "$INSTDIR\third-party.txt"
  Delete "$INSTDIR\countersign.cdx.json"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\${APP}.lnk"
  DeleteRegKey HKCU "Software\Classes\Applications\countersign.exe"
  DeleteRegKey HKCU "${KEY}"
  DeleteRegKey HKCU "Software\${APP}"
SectionEnd
